"""TensorRT: what its ONNX parser and its builder accept."""
