"""The windows of adaptive pooling where an axis is open, and the places of their maxima.

Source: pytorch/pytorch aten/src/ATen/native/AdaptivePooling.h: window i of n over L elements goes
from floor(i * L / n) to ceil((i + 1) * L / n).
"""

import math
from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value, counted

from ._axes import boxed, windows

_MOST_PLACES = 1 << 20


def open_means(build: Builder, x: Value, axis: int, count: int) -> Value:
    """Return the means of `count` windows along an axis whose size is known at run time alone.

    Raises:
        Refuse: The opset is below 11, which has no Range.
    """
    build.need_opset(11, " for Range")
    rank = x.rank or 0
    size = build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0])
    numbers = np.arange(count, dtype=np.int64)
    starts = build.Div(build.Mul(size, numbers), count)
    ends = build.Div(build.Add(build.Mul(size, numbers + 1), count - 1), count)
    at = build.Unsqueeze(counted(x, axis, build), axes=[1])  # [L, 1] next to [count]
    inside = build.And(build.Not(build.Less(at, starts)), build.Less(at, ends))
    lengths = build.Cast(build.Sub(ends, starts), to=x.elem_type)
    weights = build.Div(build.Cast(inside, to=x.elem_type), lengths)
    weights = build.Unsqueeze(weights, axes=list(range(rank - 2)))
    if axis == rank - 1:
        return build.MatMul(x, weights)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return build.Transpose(build.MatMul(build.Transpose(x, perm=order), weights), perm=order)


def maxima_and_places(
    build: Builder, x: Value, sizes: Sequence[tuple[int, int]]
) -> tuple[Value, Value]:
    """Return the first of the largest elements of each window, and its place in its channel.

    Args:
        build: Where the nodes go.
        x: Floats, [..., *sizes].
        sizes: (input size, output size) of each pooled axis.

    Raises:
        Refuse: All windows together have too many elements.
    """
    lists = [windows(size, output) for size, output in sizes]
    count = math.prod(output for _, output in sizes)
    most = math.prod(max(end - start for start, end in along) for along in lists)
    if count * most > _MOST_PLACES:
        raise Refuse(f"all windows must have at most {_MOST_PLACES} elements; {count * most} are")
    table = _table(sizes, lists, most)
    lead = (x.rank or 0) - len(sizes)
    flat = build.Reshape(x, [0] * lead + [-1])
    read = build.Gather(flat, table, axis=lead)
    best = build.ReduceMax(read, axes=[lead + 1], keepdims=0)
    first = build.ArgMax(read, axis=lead + 1, keepdims=0)
    offsets = np.arange(count, dtype=np.int64) * most
    places = build.Gather(build.constant(table.reshape(-1)), build.Add(first, offsets), axis=0)
    shape = [0] * lead + [output for _, output in sizes]
    return build.Reshape(best, shape), build.Reshape(places, shape)


def _table(
    sizes: Sequence[tuple[int, int]], lists: Sequence[Sequence[tuple[int, int]]], most: int
) -> Array:
    """Return the places of each window, one in a row; the first again where there are no more."""
    inputs, outputs = [size for size, _ in sizes], [output for _, output in sizes]
    numbers: Array = np.arange(math.prod(inputs), dtype=np.int64).reshape(inputs)
    rows = (numbers[boxed(lists, place)].reshape(-1) for place in np.ndindex(*outputs))
    return np.stack([np.concatenate([row, np.repeat(row[:1], most - row.size)]) for row in rows])
