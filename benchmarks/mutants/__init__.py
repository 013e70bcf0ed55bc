"""Passes made wrong in one place each, and whether the certificates catch it."""
