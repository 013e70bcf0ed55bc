"""Operators of PyTorch, translated to ONNX and run by the PyTorch that is installed here."""
