"""Losses, as arithmetic on what they read."""
