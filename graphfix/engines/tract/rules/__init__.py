"""What tract refuses or computes differently, beyond single types, ranks and attributes."""
