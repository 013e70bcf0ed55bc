"""Products and sums of tensors."""
