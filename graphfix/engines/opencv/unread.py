"""Which cells of a tensor nothing reads, as a Slice after pointwise operators cuts them off."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_DEEPEST = 40


def is_cut_off(value: Value, ends: Mapping[int, int], depth: int = _DEEPEST) -> bool:
    """Say whether no cell from some end of an axis on has a part in an output of the model.

    It is followed through pointwise operators that keep the shape, and Slices that take the axes
    forward from constant places. What is read by anything else counts as read.

    Args:
        value: The tensor; its shape has to be known.
        ends: Axis -> the first cell along it that must not be read. A cell is read where one of
            its places is at or after an end.
        depth: How many nodes are followed.
    """
    if not ends:
        return True
    if value.is_graph_output or not depth or value.static_shape is None:
        return False
    return all(_cuts_off(node, value, ends, depth) for node in value.consumers)


def _cuts_off(node: NodeView, value: Value, ends: Mapping[int, int], depth: int) -> bool:
    result = node.output(0)
    if result is None or node.domain:
        return False
    if node.op in ELEMENTWISE and result.static_shape == value.static_shape:
        return is_cut_off(result, ends, depth - 1)
    if node.op != "Slice" or value != node.input(0):
        return False
    taken = _taken(node, value.rank or 0)
    if taken is None:
        return False
    left = {axis: end for axis, end in ends.items() if taken.get(axis, end + 1) > end}
    moved = any(axis in taken for axis in left)  # its cells are counted again
    return not moved and is_cut_off(result, left, depth - 1)


def _taken(node: NodeView, rank: int) -> dict[int, int] | None:
    """Return the end of what a Slice takes of each of its axes; None where it is not plain."""
    known: list[list[int] | None] = []
    for place, name in enumerate(("starts", "ends", "axes", "steps"), 1):
        given = node.input(place)
        array = node.attr(name) if given is None else given.array()
        absent = array is None and given is None
        known.append(None if absent or array is None else [int(n) for n in np.ravel(array)])
        if array is None and not absent:
            return None
    starts, ends, axes, steps = known
    if starts is None or ends is None:
        return None
    counts = [*starts, *ends, *(steps or ())]
    if min(counts, default=0) < 0:
        return None
    return {axis % rank: end for axis, end in zip(axes or range(len(ends)), ends, strict=True)}
