"""Passes for Resize and Upsample: other forms of the same resampling, or none at all."""
