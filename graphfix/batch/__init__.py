"""Many models: each in a process of its own, resumable, listed in one table."""
