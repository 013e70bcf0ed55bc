"""tract as an engine family."""
