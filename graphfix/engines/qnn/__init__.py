"""QNN as an engine family."""
