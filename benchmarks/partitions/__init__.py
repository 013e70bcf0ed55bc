"""Measuring whether graphfix counts the parts of a graph as onnxruntime makes them."""
