"""MNN: what its converter takes without a word and computes differently, and what ends its process.

All of it was measured on the wheel 3.6.1 against onnxruntime, a model for each. What depends on the
operator, its element types and ranks alone is in the profile.
"""
