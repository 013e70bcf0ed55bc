"""RKNN as an engine family."""
