"""Real engines on generated models of one operator each, and on the networks of a folder."""
