"""What the passes of this folder read from nodes: constant indices, runs of them, sizes."""

from typing import Any

import numpy as np

from graphfix.authoring import FAR, Builder, NodeView, Refuse, Value


def gather_axis(node: NodeView) -> int:
    """Return the axis of a Gather, counted from the front where the rank is known.

    Raises:
        Refuse: The axis is given by the caller of a function.
    """
    axis = int(node.attr("axis", 0))
    rank = node.need(0).rank
    return axis + rank if axis < 0 and rank is not None else axis


def constant_indices(node: NodeView, build: Builder) -> np.ndarray[Any, Any]:
    """Return the constant indices of a Gather.

    Raises:
        Refuse: They are computed, or lie outside the data where its size is known.
    """
    indices = build.need_const(node.need(1), "the index")
    size = node.need(0).dim(gather_axis(node))
    if size is not None and indices.size and (indices.min() < -size or indices.max() >= size):
        raise Refuse(f"the indices must lie in the {size} elements; one lies outside")
    return indices


def pieces(indices: list[int]) -> list[tuple[int, int]]:
    """Return the runs of consecutive indices as (first, last); all of one sign."""
    runs: list[tuple[int, int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1 and index != 0:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def cut(build: Builder, data: Value, first: int, last: int, axis: int) -> Value:
    """Return the elements from `first` to `last` of one axis; both of one sign."""
    end = FAR if last == -1 else last + 1
    return build.Slice(data, starts=[first], ends=[end], axes=[axis])
