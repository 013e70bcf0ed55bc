"""What OpenVINO refuses or computes differently, beyond single types, ranks and attributes."""
