"""What the forms of each opset become in the one below it, and the other way round."""
