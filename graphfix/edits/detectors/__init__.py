"""Detectors: heads found by shape, and suppressions attached to them."""
