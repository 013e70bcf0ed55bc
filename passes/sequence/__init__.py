"""Sequences of tensors: what engines without them need instead."""
