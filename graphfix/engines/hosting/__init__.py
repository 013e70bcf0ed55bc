"""Engines in processes of their own, in whichever Python has them."""
