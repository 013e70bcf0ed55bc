"""Choosing among boxes: what stands for NonMaxSuppression where an engine has none."""
