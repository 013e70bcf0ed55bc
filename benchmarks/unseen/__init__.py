"""Random networks that no rule was written for, and what becomes of them in real engines."""
