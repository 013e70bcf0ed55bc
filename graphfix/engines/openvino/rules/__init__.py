"""What OpenVINO refuses or computes otherwise, beyond single types, ranks and attributes."""
