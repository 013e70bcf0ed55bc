"""What XNNPACK leaves to the CPU, beyond what its table has."""
