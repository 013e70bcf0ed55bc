"""What is known of the smallest number of a tensor."""

from __future__ import annotations

import numpy as np

from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import MOVES_FIRST, NOT_NEGATIVE, PLACES

_DEPTH = 16
_FAR = 32
_SUMMING = frozenset({"ReduceMean", "ReduceMin", "ReduceSum"})


def lower_bound(value: Value | None, depth: int = _DEPTH) -> int | None:
    """Return a number that no element of an integer tensor is below; None where none is known.

    Sizes and positions are never negative; what only moves values keeps their bound; Max, Min,
    Where and Concat join bounds. Sums and products are not followed: they may wrap around.
    """
    if value is None or depth == 0:
        return None
    if value.is_constant:
        array = value.array()
        if array is None or array.dtype.kind not in "iu" or array.size == 0:
            return None
        return int(array.min())
    node = value.producer
    if node is None or node.domain != "":
        return _unsigned(value)
    position = next((i for i, out in enumerate(node.outputs) if out == value), 0)
    if PLACES.get(node.op) == position:
        return 0
    bound = _through(node, depth - 1)
    return _unsigned(value) if bound is None else bound


def _unsigned(value: Value) -> int | None:
    dtype = value.dtype
    return 0 if dtype is not None and dtype.kind == "u" else None


def _through(node: NodeView, depth: int) -> int | None:
    if node.op in MOVES_FIRST:
        return lower_bound(node.input(0), depth)
    if node.op == "Cast":
        return _cast(node, depth)
    if node.op in ("Concat", "Min", "Where"):
        joined = [lower_bound(v, depth) for v in node.inputs[1 if node.op == "Where" else 0 :]]
        known = [bound for bound in joined if bound is not None]
        return min(known) if known and len(known) == len(joined) else None
    if node.op == "Max":
        known = [b for b in (lower_bound(v, depth) for v in node.inputs) if b is not None]
        return max(known, default=None)
    return None


def _cast(node: NodeView, depth: int) -> int | None:
    source, target = node.input(0), node.output(0)
    old = source.dtype if source is not None else None
    new = target.dtype if target is not None else None
    if old is None or new is None or old.kind not in "iub" or new.kind not in "iu":
        return None
    # A cast to a type that does not hold every value of the old one wraps around.
    if not np.can_cast(old, new):
        return None
    return 0 if old.kind == "b" else lower_bound(source, depth)


def not_negative(value: Value, depth: int = _FAR) -> bool:
    """Say whether floating point numbers are known not to be below zero; NaN is not."""
    array = value.array()
    if array is not None:
        return bool((array >= 0).all())
    node = value.producer
    if node is None or node.domain or not depth:
        return False
    if node.op in NOT_NEGATIVE or node.op == "Abs" or _is_square(node):
        return True
    several = node.op in ("Add", "Concat", "Max", "Min", "Mul")
    if not several and node.op not in MOVES_FIRST | _SUMMING and node.op != "ReduceMax":
        return False
    return all(
        known is not None and not_negative(known, depth - 1)
        for known in (node.inputs if several else node.inputs[:1])
    )


def _is_square(node: NodeView) -> bool:
    if node.op == "Mul":
        return node.input(0) == node.input(1)
    exponent = node.need(1).array() if node.op == "Pow" else None
    return exponent is not None and bool((exponent == 2).all())


def least_size(value: Value, axis: int, depth: int = _DEPTH) -> int:
    """Return how many elements an axis, counted from the front, has at least.

    What a Concat joins there is summed up; of other sizes that are not known it is 0.
    """
    size = value.dim(axis)
    if size is not None:
        return size
    node = value.producer
    if node is None or node.op != "Concat" or node.domain or not depth or value.rank is None:
        return 0
    if int(node.attr("axis", 1)) % value.rank != axis:
        return 0
    return sum(least_size(part, axis, depth - 1) for part in node.inputs if part is not None)
