"""The arithmetic of scatter indices that are constants: range, duplicates, linear positions.

ScatterND: https://onnx.ai/onnx/operators/onnx__ScatterND.html; ScatterElements:
https://onnx.ai/onnx/operators/onnx__ScatterElements.html. Negative indices count from the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value

Array = np.ndarray[Any, Any]
Dims = Sequence[int | str | None]


def reduction_of(node: NodeView) -> str:
    """Return the reduction of a scatter; ``none`` where the attribute is not written."""
    return str(node.attr("reduction", "none"))


def refuse_reduction(node: NodeView) -> None:
    """Refuse a scatter that combines what it writes with what is there.

    Raises:
        Refuse: `reduction` is something else than ``none``.
    """
    if reduction_of(node) != "none":
        raise Refuse(f"reduction {reduction_of(node)!r} combines updates with the data")


def known_shape(value: Value, what: str) -> tuple[int | str | None, ...]:
    """Return the shape of a value.

    Raises:
        Refuse: Its rank is unknown.
    """
    if value.shape is None:
        raise Refuse(f"the rank of the {what} is unknown")
    return tuple(value.shape)


def fixed(dims: Dims, what: str) -> tuple[int, ...]:
    """Return dimensions as numbers.

    Raises:
        Refuse: One of them is not known.
    """
    known = tuple(dim for dim in dims if isinstance(dim, int))
    if len(known) != len(dims):
        raise Refuse(f"a size of the {what} is not known")
    return known


def normalised(index: Array, size: int | str | None) -> Array:
    """Return indices of one axis counted from the start.

    Where the size is unknown, indices from the start are taken as they are: an index past the end
    is an error of the model itself.

    Raises:
        Refuse: An index is out of range, or counts from the end of an axis of unknown size.
    """
    index = index.astype(np.int64)
    if not isinstance(size, int):
        if index.size and index.min() < 0:
            raise Refuse("an index counts from the end of an axis of unknown size")
        return index
    if index.size and (index.min() < -size or index.max() >= size):
        raise Refuse(f"an index is out of range for an axis of {size}")
    return np.where(index < 0, index + size, index).astype(np.int64)


def rows_of(indices: Array, dims: Dims) -> Array:
    """Return the index tuples of ScatterND as int64 [n, k], counted from the start.

    Args:
        indices: The constant, [..., k].
        dims: The shape of the data.

    Raises:
        Refuse: As `normalised`; k is larger than the rank; a tuple is there twice.
    """
    if indices.ndim == 0 or indices.shape[-1] > len(dims):
        raise Refuse("the indices do not fit the rank of the data")
    depth = indices.shape[-1]
    if depth == 0:
        raise Refuse("the indices name no axis")
    rows = indices.reshape(-1, depth)
    columns = [normalised(rows[:, axis], dims[axis]) for axis in range(depth)]
    found = np.stack(columns, axis=1)
    if len(np.unique(found, axis=0)) != len(found):
        raise Refuse("an index is written twice, and ONNX does not say which write stays")
    return found


def linear(rows: Array, dims: Sequence[int]) -> Array:
    """Return index tuples [n, k] as positions in an array of shape `dims` (k sizes)."""
    return rows @ strides(dims)


def strides(dims: Sequence[int]) -> Array:
    """Return how far apart neighbours are along each axis, in row-major order."""
    return np.array([math.prod(dims[axis + 1 :]) for axis in range(len(dims))], dtype=np.int64)


def element_positions(indices: Array, axis: int, dims: Sequence[int]) -> Array:
    """Return where ScatterElements writes each update, as positions in the flattened data.

    Args:
        indices: The constant, of the rank of the data, counted from the start along `axis`.
        axis: The axis that the indices count along.
        dims: The shape of the data.
    """
    grids: list[Array] = list(np.indices(indices.shape, dtype=np.int64))
    grids[axis] = indices.astype(np.int64)
    rows = np.stack([grid.reshape(-1) for grid in grids], axis=1)
    return linear(rows, dims)


def axis_of(node: NodeView, rank: int) -> int:
    """Return the axis of ScatterElements, counted from the start.

    Raises:
        Refuse: It is out of range.
    """
    axis = int(node.attr("axis", 0))
    if not -rank <= axis < rank:
        raise Refuse(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def regrouped(build: Builder, value: Value, lead: Sequence[int], data: Value, skip: int) -> Value:
    """Emit `value` with the shape `lead` followed by the shape of `data` from axis `skip` on.

    The Reshape is static where at most one of the dimensions is unknown; else its shape is
    computed from that of the data.
    """
    dims = known_shape(data, "data")[skip:]
    wanted = (*lead, *dims)
    have = value.shape
    if have is not None and len(have) == len(wanted) and all(map(same_dim, have, wanted)):
        return value
    unknown = sum(not isinstance(dim, int) for dim in dims)
    if unknown == 0 or (unknown == 1 and 0 not in wanted):
        return build.Reshape(value, [dim if isinstance(dim, int) else -1 for dim in wanted])
    rest = build.Slice(build.Shape(data), starts=[skip], ends=[len(dims) + skip], axes=[0])
    return build.Reshape(value, build.Concat(list(lead), rest, axis=0) if lead else rest)


def same_dim(a: int | str | None, b: int | str | None) -> bool:
    """Say whether two dimensions are certainly equal: the same number or the same symbol."""
    return a is not None and a == b
