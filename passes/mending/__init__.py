"""Files that have no meaning under ONNX, and can be read in one way."""
