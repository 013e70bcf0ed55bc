"""Opset conversion measured over node tests and a corpus."""
