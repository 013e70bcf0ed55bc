"""The arithmetic of scatter indices that are constants: range, duplicates, linear positions.

ScatterND: https://onnx.ai/onnx/operators/onnx__ScatterND.html; ScatterElements:
https://onnx.ai/onnx/operators/onnx__ScatterElements.html. Negative indices count from the end.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, listed, reshaped

Array = np.ndarray[Any, Any]
Dims = Sequence[int | str | None]
NARROW = ("bool", "int8", "int16", "uint8", "uint16")
# One round is some four nodes; what piles up more updates is a sum, which MatMul does better.
MAX_ROUNDS = 8


def reduction_of(node: NodeView) -> str:
    """Return the reduction of a scatter; ``none`` where the attribute is not written."""
    return str(node.attr("reduction", "none"))


def combined(build: Builder, reduction: str, there: Value, update: Value) -> Value:
    """Emit what a scatter writes: the update, or the update combined with what is there.

    Raises:
        Refuse: The reduction is unknown, or the dtype is not one of numbers.
    """
    if reduction == "none":
        return update
    if there.type_name in ("unknown", "bool", "string"):
        raise Refuse(
            f"a reduction must be of a known dtype of numbers; {reduction!r} is of "
            f"{there.type_name}"
        )
    operators = {"add": build.Add, "mul": build.Mul, "max": build.Max, "min": build.Min}
    if reduction not in operators:
        raise Refuse(f"the reduction must be {listed(operators)}; it is {reduction}")
    return operators[reduction](there, update)


def refuse_strings(data: Value) -> None:
    """Refuse strings: onnxruntime's Gather takes the first of each row alone (seen: 1.31).

    Raises:
        Refuse: They are strings.
    """
    if data.type_name == "string":
        raise Refuse(f"{data.name} must not hold strings; it does")


def widened(build: Builder, data: Value, updates: Value, reduction: str) -> tuple[Value, Value]:
    """Emit data and updates as int32 where they are bools or narrow integers.

    Raises:
        Refuse: They are, and there is a reduction, which would not wrap around as before; or
            they are strings.
    """
    refuse_strings(data)
    if data.type_name not in NARROW:
        return data, updates
    if reduction != "none":
        raise Refuse(
            "the reduction must be none where elements are narrower than int32; it is "
            f"{reduction!r} of dtype {data.type_name}"
        )
    return build.Cast(data, to=TensorProto.INT32), build.Cast(updates, to=TensorProto.INT32)


def narrowed(build: Builder, value: Value, like: Value) -> Value:
    """Emit `value` in the dtype of `like`, which `widened` may have changed."""
    return build.Cast(value, to=like.elem_type) if like.type_name in NARROW else value


def rounds_of(positions: Array, reduction: str) -> list[Array]:
    """Return which updates to write first, second, ... so that no round writes one place twice.

    Args:
        positions: Where each update goes, int64 [n], or index tuples [n, k].
        reduction: The reduction of the scatter.

    Returns:
        Per round, the values of the updates in their old order; those that go to the same place
        keep their order from round to round.

    Raises:
        Refuse: A place is written twice without a reduction, or more than `MAX_ROUNDS` times;
            nothing is written.
    """
    if not len(positions):
        raise Refuse("there must be indices; there are none")
    _, place = np.unique(positions, axis=0, return_inverse=True)
    seen: dict[int, int] = {}
    turns = np.empty(len(positions), dtype=np.int64)
    for number, where in enumerate(place.reshape(-1).tolist()):
        turns[number] = seen.get(where, 0)
        seen[where] = int(turns[number]) + 1
    count = int(turns.max()) + 1
    if count > 1 and reduction == "none":
        raise Refuse(
            "each place must be written once; one is written twice, and ONNX does not say which "
            "write stays"
        )
    if count > MAX_ROUNDS:
        raise Refuse(f"at most {MAX_ROUNDS} updates must go to the same place; {count} do")
    return [np.flatnonzero(turns == turn) for turn in range(count)]


def known_shape(data: Value) -> tuple[int | str | None, ...]:
    """Return the shape of the data.

    Raises:
        Refuse: Its rank is unknown.
    """
    if data.shape is None:
        raise Refuse("the rank of the data must be known")
    return tuple(data.shape)


def fixed(dims: Dims, what: str) -> tuple[int, ...]:
    """Return dimensions as numbers.

    Raises:
        Refuse: One of them is not known.
    """
    known = tuple(dim for dim in dims if isinstance(dim, int))
    if len(known) != len(dims):
        raise Refuse(f"the sizes of the {what} must be known")
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
            raise Refuse(
                f"indices must not be negative on an axis of unknown size; one is {index.min()}"
            )
        return index
    if index.size and (index.min() < -size or index.max() >= size):
        raise Refuse(f"the indices must lie in an axis of {size}; one does not")
    return np.where(index < 0, index + size, index).astype(np.int64)


def rows_of(indices: Array, dims: Dims) -> Array:
    """Return the index tuples of ScatterND as int64 [n, k], counted from the start.

    Args:
        indices: The constant, [..., k].
        dims: The shape of the data.

    Raises:
        Refuse: As `normalised`; k is 0 or larger than the rank.
    """
    if indices.ndim == 0 or indices.shape[-1] > len(dims):
        raise Refuse("the indices must fit the rank of the data; they do not")
    depth = indices.shape[-1]
    if depth == 0:
        raise Refuse("the indices must name an axis; they name none")
    rows = indices.reshape(-1, depth)
    columns = [normalised(rows[:, axis], dims[axis]) for axis in range(depth)]
    return np.stack(columns, axis=1)


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
    rows = grid([range(size) for size in indices.shape])
    rows[:, axis] = indices.reshape(-1)
    return linear(rows, dims)


def grid(ranges: Sequence[range]) -> Array:
    """Return all tuples with one number from each range, in row-major order; int64 [n, k]."""
    axes = np.meshgrid(*(np.array(r, dtype=np.int64) for r in ranges), indexing="ij")
    return np.stack([axis.reshape(-1) for axis in axes], axis=1)


def axis_of(node: NodeView, rank: int) -> int:
    """Return the axis of ScatterElements, counted from the start.

    Raises:
        Refuse: It is out of range.
    """
    axis = int(node.attr("axis", 0))
    if not -rank <= axis < rank:
        raise Refuse(f"the axis must lie in rank {rank}; it is {axis}")
    return axis % rank


def regrouped(build: Builder, value: Value, lead: Sequence[int], data: Value, skip: int) -> Value:
    """Emit `value` with the shape `lead` followed by the shape of `data` from axis `skip` on.

    The Reshape is static where at most one of the dimensions is unknown; else its shape is
    computed from that of the data.
    """
    dims = known_shape(data)[skip:]
    wanted = (*lead, *dims)
    have = value.shape
    if have is not None and len(have) == len(wanted) and all(map(same_dim, have, wanted)):
        return value
    unknown = sum(not isinstance(dim, int) for dim in dims)
    if unknown == 0 or (unknown == 1 and 0 not in wanted):
        return build.Reshape(value, [dim if isinstance(dim, int) else -1 for dim in wanted])
    rest = build.Slice(build.Shape(data), starts=[skip], ends=[len(dims) + skip], axes=[0])
    sizes = build.Concat(list(lead), rest, axis=0) if lead else rest
    if have is not None and len(have) == len(wanted):
        return build.Reshape(value, sizes)  # a size of 0 is where it is copied from
    return reshaped(value, sizes, build)


def same_dim(a: int | str | None, b: int | str | None) -> bool:
    """Say whether two dimensions are certainly equal: the same number or the same symbol."""
    return a is not None and a == b
