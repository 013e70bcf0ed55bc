"""Passes for ai.onnx.ml: classical machine learning written in ordinary operators."""
