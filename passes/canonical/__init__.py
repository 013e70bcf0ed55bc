"""Passes that make a graph plainer whatever the target; each lowers a measure."""
