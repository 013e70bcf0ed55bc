"""Adapters of the opset chain, one file per version step, and the pass that walks it."""
