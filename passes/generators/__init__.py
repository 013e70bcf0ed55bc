"""Tensors made of a shape or of limits."""
