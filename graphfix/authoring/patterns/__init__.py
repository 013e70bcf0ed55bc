"""Patterns of several nodes: what is sought, the matcher, and the index of many patterns."""
