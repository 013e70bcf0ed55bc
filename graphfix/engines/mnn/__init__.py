"""MNN as an engine family."""
