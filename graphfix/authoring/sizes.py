"""Sizes that are numbers where they are known and computed where they are not."""

from __future__ import annotations

from math import prod

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.ir.views import Refuse, Value

FAR = 2**31 - 1  # the end of a Slice that goes to the end: engines hold sizes in 32 bits
_MOST = 1 << 22
Size = int | Value  # a number, or a scalar int64 that is computed at run time


def size_of(value: Value, axis: int, build: Builder) -> Size:
    """Return the size along an axis."""
    known = value.dim(axis)
    if known is not None:
        return known
    assert value.rank is not None
    return build.Gather(build.Shape(value), np.array(axis % value.rank, dtype=np.int64), axis=0)


def times(first: Size, second: Size, build: Builder) -> Size:
    """Multiply two sizes."""
    if isinstance(first, int):
        first, second = second, first
    if isinstance(first, int) and isinstance(second, int):
        return first * second
    if isinstance(second, int) and second == 1:
        return first
    return build.Mul(first, second)


def counted(value: Value, axis: int, build: Builder) -> Value:
    """Return 0, 1, ... up to the size along an axis, as a vector of int64."""
    size = size_of(value, axis, build)
    if isinstance(size, int):
        return build.constant(np.arange(size, dtype=np.int64))
    return build.Range(np.int64(0), size, np.int64(1))


def along(vector: Value, axis: int, rank: int, build: Builder) -> Value:
    """Turn a vector into a tensor of a rank that varies along one axis."""
    known = build.const(vector)
    shape = [-1 if place == axis else 1 for place in range(rank)]
    if rank == 1:
        return vector
    if known is not None:
        return build.constant(known.reshape(shape))
    return build.Reshape(vector, shape)


def from_front(index: Value, data: Value, axis: int, build: Builder) -> Value:
    """Count negative indices of an axis of the data from the front; the result is int64."""
    known = build.const(index)
    size = data.dim(axis)
    if known is not None and (size is not None or not (known < 0).any()):
        return build.constant(np.where(known < 0, known + (size or 0), known).astype(np.int64))
    if index.elem_type != TensorProto.INT64:
        index = build.Cast(index, to=TensorProto.INT64)
    return build.Where(build.Less(index, 0), build.Add(index, size_of(data, axis, build)), index)


def offset(entries: Value, stride: Size, build: Builder) -> Value:
    """Multiply indices by how far apart they lie."""
    known = build.const(entries)
    if isinstance(stride, int) and stride == 1:
        return entries
    if isinstance(stride, int) and known is not None:
        return build.constant(known * stride)
    return build.Mul(entries, stride)


def sum_of(first: Value | None, second: Value, build: Builder) -> Value:
    """Add indices, in the file where both are constants."""
    if first is None:
        return second
    one, other = build.const(first), build.const(second)
    if one is not None and other is not None and np.broadcast(one, other).size <= _MOST:
        return build.constant(one + other)
    return build.Add(first, second)


def rows_of(value: Value, count: int, rows: Value, build: Builder) -> Value:
    """Gather rows of a tensor whose first axes count as one, by their numbers there."""
    joined = _joined(value, count, build)
    if joined is not None:
        return build.Gather(joined, rows, axis=0)
    return build.Gather(build.Reshape(value, [-1]), _elements(value, count, rows, build), axis=0)


def _joined(value: Value, count: int, build: Builder) -> Value | None:
    """Join the first axes of a tensor into one; None where no Reshape does it for all sizes.

    A size of 0 in a shape that is computed means "copy", which is the size of another axis here.
    """
    assert value.rank is not None
    rest = [value.dim(axis) for axis in range(count, value.rank)]
    if count == 1:
        return value
    if 0 in rest:
        raise Refuse(f"{value.name} must have elements; it has none")
    known = [size for size in rest if size is not None]
    if len(known) == len(rest):
        return build.Reshape(value, [-1, *known])
    first = [size for axis in range(count) if (size := value.dim(axis))]
    if rest.count(None) == 1 and len(first) == count:
        return build.Reshape(value, [prod(first), *(-1 if s is None else s for s in rest)])
    return None


def _elements(value: Value, count: int, rows: Value, build: Builder) -> Value:
    """Return the number of each element of rows among all elements of a tensor."""
    assert value.rank is not None
    assert rows.rank is not None
    rank = rows.rank + value.rank - count
    stride: Size = 1
    total: Value | None = None
    for axis in reversed(range(count, value.rank)):
        entries = along(counted(value, axis, build), rows.rank + axis - count, rank, build)
        total = sum_of(total, offset(entries, stride, build), build)
        stride = times(stride, size_of(value, axis, build), build)
    starts = build.Unsqueeze(offset(rows, stride, build), axes=list(range(rows.rank, rank)))
    return sum_of(total, starts, build)
