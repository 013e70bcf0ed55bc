"""Fused operators of onnxruntime, taken apart into standard ones."""
