"""Pad in forms that engines take."""
