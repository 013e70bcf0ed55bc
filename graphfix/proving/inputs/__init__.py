"""Realistic, reproducible inputs for a model, from what its inputs are and how they are used."""

from graphfix.proving.inputs.maker import FeedMaker, make_feeds

__all__ = ["FeedMaker", "make_feeds"]
