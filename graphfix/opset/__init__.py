"""Opset conversion: a chain of one-version steps, each planned whole before it is applied."""
