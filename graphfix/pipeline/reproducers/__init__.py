"""Reproducer folders: a fault of a pass, reduced, with all that is needed to see it again."""
