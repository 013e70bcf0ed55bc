"""Passes that mend what the ONNX checker complains of."""
