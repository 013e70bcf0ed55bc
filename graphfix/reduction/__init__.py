"""Shrinking a model while a command still fails on it."""
