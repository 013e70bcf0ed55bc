"""Normalizations written out: mean, variance, scale."""
