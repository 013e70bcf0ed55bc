"""Quantized operators and the forms of quantization that engines do not take."""
