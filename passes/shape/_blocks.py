"""Dimensions that stay side by side when a tensor is transposed."""

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import NodeView, Refuse, Value


def turned_between(node: NodeView, most: int) -> tuple[Value, list[int], list[int], list[int]]:
    """Return what a Transpose between two Reshapes turns.

    Args:
        node: The last Reshape.
        most: How many dimensions the tensors at both ends may have.

    Returns:
        What the first Reshape reads, the sizes that it gives, the order into which these are
        transposed, and the sizes that the last one gives.

    Raises:
        Refuse: There are no such nodes, somebody else reads what lies between, a size is unknown
            or 0, or an end has more dimensions.
    """
    transposed, last = node.need(0), node.output(0)
    turn = made_by(transposed, "Transpose")
    split = turn.need(0)
    first = made_by(split, "Reshape").need(0)
    if last is None or last.static_shape is None or split.static_shape is None:
        raise Refuse("all sizes must be known; they are not")
    if 0 in split.static_shape:
        raise Refuse(f"{split.name} must hold numbers; it has a size of 0")
    for end in (first, last):
        if end.rank is None or end.rank > most:
            raise Refuse(f"{end.name} must have {most} dimensions at most; it has {end.rank}")
    shape = list(split.static_shape)
    order = [int(axis) for axis in turn.attr("perm", range(len(shape))[::-1])]
    return first, shape, order, list(last.static_shape)


def made_by(value: Value, op: str) -> NodeView:
    """Return the node that computes a tensor.

    Raises:
        Refuse: It is none of an operator, or somebody else reads the tensor.
    """
    maker = value.producer
    if maker is None or maker.op != op or maker.domain:
        raise Refuse(f"{value.name} must come out of {op}; it does not")
    if value.is_graph_output or len(value.consumers) != 1:
        raise Refuse(f"nobody else must read {value.name}")
    return maker


def joined(shape: Sequence[int], order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the sizes of blocks that stay together, and how these are transposed."""
    runs: list[list[int]] = []
    for axis in (axis for axis in order if shape[axis] != 1):
        before = range(runs[-1][-1] + 1, axis) if runs else ()
        if runs and axis > runs[-1][-1] and all(shape[one] == 1 for one in before):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    starts = sorted(run[0] for run in runs)
    by_start = {run[0]: run for run in runs}
    sizes = [int(np.prod([shape[axis] for axis in by_start[start]])) for start in starts]
    return sizes or [1], [starts.index(run[0]) for run in runs] or [0]
