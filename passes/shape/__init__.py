"""Passes about shape arithmetic: Shape, Gather, Reshape and what feeds them."""
