"""Random models and damaged files."""
