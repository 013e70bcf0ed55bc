"""Constants of one element in the place of a number that a pattern names."""

from __future__ import annotations

import numpy as np

from graphfix.ir.graph import Node, Tensor
from graphfix.ir.views import Array, Value

# How many units of the last place a number may be away that its dtype cannot hold: exporters
# compute sqrt(2 / pi) or 1 / sqrt(2) in float32 or in float64 and round afterwards.
_UNITS = 2


def is_number(tensor: Tensor, wanted: float, reader: Node) -> bool:
    """Say whether `tensor` is a constant of one element that is `wanted` in its dtype.

    A number that the dtype holds has to be that one; another is the nearest, or one of the two
    next to it. It must not give the result dimensions that the other operands of `reader` lack.
    """
    value = Value(tensor)
    if not value.is_constant:
        return False
    array = value.array()
    if array is None or array.size != 1 or not keeps_rank(array, tensor, reader):
        return False
    element = array.reshape(())
    nearest = np.asarray(wanted).astype(element.dtype)
    if float(nearest) == wanted or element.dtype.kind in "iub":
        return float(element) == wanted
    return abs(float(element) - float(nearest)) <= _UNITS * abs(float(np.spacing(nearest)))


def keeps_rank(array: Array, tensor: Tensor, reader: Node) -> bool:
    """Say whether a constant gives what `reader` computes no more dimensions than others do."""
    if array.ndim == 0:
        return True
    ranks = [Value(t).rank for t in reader.inputs if t is not tensor]
    return any(rank is not None and rank >= array.ndim for rank in ranks)
