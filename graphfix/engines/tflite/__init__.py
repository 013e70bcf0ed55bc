"""TensorFlow Lite as an engine: converted by onnx2tf, run by LiteRT."""
