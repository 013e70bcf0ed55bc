"""What differs between two models as they are written, whatever their tensors are called."""
