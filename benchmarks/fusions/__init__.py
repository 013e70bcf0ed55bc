"""Fusions on models that both exporters of PyTorch write."""
