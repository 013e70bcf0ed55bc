"""What RKNN takes that depends on more than an operator and its element types."""
