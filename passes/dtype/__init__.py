"""Element types that an engine lacks for an operator: the same in another type, and back."""
