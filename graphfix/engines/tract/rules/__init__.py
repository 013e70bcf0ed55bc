"""What tract refuses or computes otherwise, beyond single types, ranks and attributes."""
