"""Whether two values are the same, explained by rounding, or different."""
