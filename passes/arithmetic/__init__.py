"""Rounding, signs and running sums that an engine lacks."""
