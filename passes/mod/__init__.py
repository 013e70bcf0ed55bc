"""Passes for Mod: the remainder by division, and the float remainder in the form ONNX allows."""
