"""Fourier transforms, as products with constants."""
