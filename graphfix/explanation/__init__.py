"""Logs of engines and converters: which rule each message is of, at which node, what cures it."""
