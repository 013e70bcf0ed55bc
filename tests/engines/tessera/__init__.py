"""Tessera, an engine that does not exist: all that a family needs, as a stranger would write it."""
