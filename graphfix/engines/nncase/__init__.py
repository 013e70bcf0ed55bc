"""nncase as an engine family, known from tables alone."""
