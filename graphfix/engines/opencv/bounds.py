"""Bounds of integers that follow from how they are computed."""

from __future__ import annotations

from math import inf, prod

import numpy as np

from graphfix.ir.views import NodeView, Value

_INDICES = frozenset({"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "Shape", "Size"})
_FROM_FIRST = frozenset({
    "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Tile", "Transpose",
    "Unsqueeze",
})  # fmt: skip
_FROM_ALL = frozenset({"Add", "Concat", "Max", "Mul"})
_DEEPEST = 12


def least(value: Value, depth: int = _DEEPEST) -> float:
    """Return what no number of a tensor of integers is below; -inf where that is not known."""
    known, maker = value.array(), value.producer
    if known is not None:
        return float(known.min()) if known.size else inf
    if maker is None or maker.domain or not depth:
        return -inf
    first = maker.input(0)
    if maker.op in _INDICES or (maker.op == "TopK" and maker.output(1) == value):
        return 0.0
    if first is None:
        return -inf
    if maker.op == "Cast" and first.type_name == "bool":
        return 0.0
    if maker.op in (*_FROM_FIRST, "Cast"):
        return least(first, depth - 1)
    if maker.op == "ConstantOfShape":
        return float(np.min(maker.attr("value", 0)))
    if maker.op == "Sub":
        return least(first, depth - 1) - _most(maker.need(1))
    if maker.op == "CumSum":
        each = least(first, depth - 1)
        return -inf if each < 0 else 0.0 if maker.attr("exclusive", 0) else each
    return _least_of_all(maker, depth) if maker.op in _FROM_ALL else -inf


def _least_of_all(node: NodeView, depth: int) -> float:
    each = [least(one, depth - 1) for one in node.inputs if one is not None]
    if node.op == "Max":
        return max(each)
    if node.op == "Concat":
        return min(each)
    if node.op == "Add":
        return sum(each)
    return prod(each) if min(each) >= 0 else -inf


def _most(value: Value) -> float:
    """Return what no number is above: of a constant, or where truths are counted along axes."""
    known, maker = value.array(), value.producer
    if known is not None:
        return float(known.max()) if known.size else -inf
    if maker is None or maker.domain or maker.op != "ReduceSum":
        return inf
    data, axes = maker.need(0), maker.input(1)
    counted = data.producer
    if counted is None or counted.op != "Cast" or counted.need(0).type_name != "bool":
        return inf
    along = maker.attr("axes") if axes is None else axes.array()
    sizes = [] if along is None else [data.dim(int(axis)) for axis in np.ravel(along)]
    return prod(inf if size is None else size for size in sizes) if sizes else inf
