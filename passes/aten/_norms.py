"""Norms of vectors of any order."""

from math import inf
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Value

from ._reductions import Axes, over


def norm_over(build: Builder, x: Value, axes: Axes, order: float, *, keep: bool) -> Value:
    """Return the norm of a vector of an order."""
    size = build.Abs(x)
    if not axes:
        if order == 0:
            return build.Cast(build.Cast(x, to=TensorProto.BOOL), to=x.elem_type)
        return size
    if order in (inf, -inf):
        return over(build, "ReduceMax" if order > 0 else "ReduceMin", size, axes, keep=keep)
    if order == 0:
        truth = build.Cast(build.Cast(x, to=TensorProto.BOOL), to=x.elem_type)
        return over(build, "ReduceSum", truth, axes, keep=keep)
    if order in (1, 2):
        return over(build, "ReduceL1" if order == 1 else "ReduceL2", x, axes, keep=keep)
    total = over(build, "ReduceSum", build.Pow(size, order), axes, keep=keep)
    return build.Pow(total, 1 / order)


def norm_of(x: Array, axes: Axes, order: float, *, keep: bool) -> Any:
    """Return the same of an array."""
    size = np.abs(x.astype(np.float64))
    if order in (inf, -inf):
        return (np.max if order > 0 else np.min)(size, axis=axes, keepdims=keep)
    if order == 0:
        return np.sum(size != 0, axis=axes, keepdims=keep)
    return np.sum(size**order, axis=axes, keepdims=keep) ** (1 / order)
