"""Files: reading them whole or not at all, weights when asked for, saving atomically."""
