"""Passes for the Scatter operators: other forms of the same writes, or none at all."""
