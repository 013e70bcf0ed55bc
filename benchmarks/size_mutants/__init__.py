"""Rewrites that are wrong at some sizes or overrides alone, and whether proofs catch them."""
