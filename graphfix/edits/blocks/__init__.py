"""Weights of few bits in blocks: as floats, and as the same blocks again."""
