"""How large a number can get that is computed at run time.

Exporters take the smaller of a constant and a size: ``Min`` of both, or ``ReduceMin`` of the two in
one ``Concat`` (torchvision's detectors, before they take that many boxes).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphfix.analysis.folding.lower_bounds import lower_bound
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import LIMITED, MOVES_FIRST

_DEPTH = 24
_LARGEST_WHOLE = 1 << 24  # float32 holds every integer up to here
_WIDE = ("int32", "int64", "float32", "float64")


def upper_bound(value: Value | None, depth: int = _DEPTH) -> int | None:
    """Return a number that no element is above; None where none is known.

    What only moves values keeps their bound, Min takes the smallest that is known, Concat the
    largest of all. Sums and products are not followed: they may wrap around.
    """
    if value is None or depth == 0:
        return None
    if value.is_constant:
        return _largest(value)
    node = value.producer
    if node is None or node.domain != "":
        return None
    if node.op in MOVES_FIRST:
        return upper_bound(node.input(0), depth - 1)
    if node.op == "Cast":
        return _cast(node, depth - 1)
    if node.op == "Min":
        return _smallest(upper_bound(item, depth - 1) for item in node.inputs)
    if node.op == "ReduceMin":
        return _reduced(node, depth - 1)
    if node.op in ("Concat", "Max"):
        bounds = [upper_bound(item, depth - 1) for item in node.inputs]
        known = [bound for bound in bounds if bound is not None]
        return max(known) if bounds and len(known) == len(bounds) else None
    if node.op == "Shape":
        return _sizes(node)
    return None


def is_finite(value: Value | None, depth: int = _DEPTH) -> bool:
    """Say whether no element can be infinite: where the values come from gives none."""
    node = None if value is None else value.producer
    if node is None or node.domain or depth == 0:
        return False
    if node.op == "Concat":
        return all(is_finite(item, depth - 1) for item in node.inputs)
    if node.op in MOVES_FIRST:
        return is_finite(node.input(0), depth - 1)
    return node.op in LIMITED


def _largest(value: Value) -> int | None:
    array = value.array()
    if array is None or array.size == 0 or array.dtype.kind not in "iuf":
        return None
    if array.dtype.kind == "f" and not (np.abs(array) < _LARGEST_WHOLE).all():
        return None
    return int(np.ceil(array.max()))


def _cast(node: NodeView, depth: int) -> int | None:
    """Between wide numbers a Cast keeps the order, as long as the bound itself survives it.

    Of int64 as int32 a number below the smallest would wrap around. What a float below that
    becomes is left open, and is the smallest in every engine.
    """
    source, result = node.need(0), node.output(0)
    if source.type_name not in _WIDE or result is None or result.type_name not in _WIDE:
        return None
    if (source.type_name, result.type_name) == ("int64", "int32"):
        least = lower_bound(source)
        if least is None or least < np.iinfo(np.int32).min:
            return None
    bound = upper_bound(source, depth)
    return bound if bound is not None and abs(bound) < _LARGEST_WHOLE else None


def _smallest(bounds: Iterable[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _reduced(node: NodeView, depth: int) -> int | None:
    """Of one Concat reduced to one number the smallest part counts, where none may be empty."""
    data = node.need(0)
    joined = data.producer
    if int(node.attr("noop_with_empty_axes", 0)) or data.rank != 1:
        return upper_bound(data, depth)
    if joined is None or joined.op != "Concat" or joined.domain:
        return upper_bound(data, depth)
    full = [item for item in joined.inputs if item is not None and (item.dim(0) or 0) > 0]
    return _smallest(upper_bound(item, depth - 1) for item in full)


def _sizes(node: NodeView) -> int | None:
    shape = node.need(0).static_shape
    return max(shape, default=None) if shape is not None else None
