"""Many models: each in a process of its own, resumable, told in one table."""
