"""Operators of PyTorch's ATen library, which exporters write when ONNX has no operator for them."""
