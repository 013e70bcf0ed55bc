"""What QNN takes and computes that depends on more than an operator and its element types."""
