"""Whether a file that has no meaning under ONNX computes what it was read as."""
