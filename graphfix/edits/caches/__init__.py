"""Decoders whose caches grow, and the form in which these have a fixed length."""
