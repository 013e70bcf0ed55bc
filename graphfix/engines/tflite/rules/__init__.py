"""TFLite: what onnx2tf refuses, and what it accepts and LiteRT computes differently.

All of it was measured on onnx2tf 1.29.24 and the LiteRT 2.1.0 that it asks for, a model for each,
against onnxruntime. What depends on the operator alone is in the profile.
"""

MEASURED = "measured on onnx2tf 1.29.24 and LiteRT 2.1.0"
