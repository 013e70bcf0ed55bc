"""Learning what an engine takes by asking it about small models: see `learning.learn`."""
