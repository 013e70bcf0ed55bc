"""Asking the real engine of a target what it makes of a file that no one has repaired."""
