"""ONNX Runtime as an engine to deploy on: what its releases accept."""
