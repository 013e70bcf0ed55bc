"""NNAPI in ONNX Runtime as an engine family, known from tables alone."""
