"""LU decompositions with partial pivoting in a Loop, of matrices that are large or of open size."""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import FAR, Builder, Value, counted, need_rank

from ._eliminating import cut, in_steps, size_value

EMITS = (
    "Abs Add ArgMax Cast Concat Div Equal Gather Identity Less Loop Mul Range ReduceSum "
    "Reshape Shape Slice Squeeze Sub Transpose Unsqueeze Where"
)


def looped(build: Builder, x: Value) -> tuple[Value, Value, Value, Value]:
    """Factorise matrices in a Loop; rows and columns are turned, so that the state keeps its shape.

    What is left of a matrix is first, what is finished after. Rows are exchanged whole.

    Args:
        build: The builder, from opset 11 on.
        x: float32 or float64, [..., rows, columns].

    Returns:
        Both factors in one matrix, as LAPACK packs them; for each step the row that was exchanged
        with, counted from 1, [..., N] in int64; the pivots, of that shape; and the row that each
        one came from, [..., rows] in int64.
    """
    rank = need_rank(x)
    down, across = (size_value(build, x, axis) for axis in (rank - 2, rank - 1))
    rows = build.Unsqueeze(counted(x, rank - 2, build), axes=[1])
    columns = counted(x, rank - 1, build)
    trips = build.Where(build.Less(down, across), down, across)
    zero, one = (build.constant(np.array(n, x.dtype)) for n in (0, 1))
    lowest = build.constant(np.array(-1, x.dtype))
    # Where each row came from is exchanged with it, in a column of its own.
    origin = build.Cast(rows, to=x.elem_type)
    state = build.Concat(x, _spread(build, origin, x, rank), axis=rank - 1)

    def step(inner: Builder, *inputs: Value) -> Sequence[Value]:
        number, going, matrix = inputs
        body = cut(inner, matrix, rank - 1, 0, -1)
        first = cut(inner, body, rank - 1, 0, 1)
        live = inner.Less(inner.Add(rows, number), down)
        score = inner.Where(live, inner.Abs(first), lowest)
        place = inner.ArgMax(score, axis=rank - 2, keepdims=1)
        here = inner.Cast(inner.Equal(place, rows), to=x.elem_type)
        pivot = inner.ReduceSum(inner.Mul(matrix, here), axes=[rank - 2], keepdims=1)
        head, tail = cut(inner, matrix, rank - 2, 0, 1), cut(inner, matrix, rank - 2, 1)
        rest = inner.Where(inner.Equal(place, cut(inner, rows, 0, 1)), head, tail)
        row, rest_own = cut(inner, pivot, rank - 1, 0, -1), cut(inner, rest, rank - 1, -1)
        rest = cut(inner, rest, rank - 1, 0, -1)
        size = cut(inner, row, rank - 1, 0, 1)
        # A pivot of 0 heads a column of zeros, which LAPACK leaves as it is.
        divisor = inner.Where(inner.Equal(size, zero), one, size)
        lead = cut(inner, rest, rank - 1, 0, 1)
        left = inner.Less(inner.Add(cut(inner, rows, 0, 1), number), down)
        share = inner.Where(left, inner.Div(lead, divisor), zero)
        ahead = inner.Where(inner.Less(inner.Add(columns, number), across), row, zero)
        moved = inner.Mul(share, cut(inner, ahead, rank - 1, 1))
        others = inner.Sub(cut(inner, rest, rank - 1, 1), moved)
        last = inner.Where(left, share, lead)
        below = inner.Concat(others, last, rest_own, axis=rank - 1)
        done = inner.Concat(
            cut(inner, row, rank - 1, 1), size, cut(inner, pivot, rank - 1, -1), axis=rank - 1
        )
        turned = inner.Concat(below, done, axis=rank - 2)
        exchanged = inner.Add(inner.Add(place, number), np.array(1, np.int64))
        return inner.Identity(going), turned, exchanged, size

    found, places, heads = in_steps(build, trips, state, step, outputs=3)
    # Nothing says the rank of what a Loop gives; 0 copies a size.
    found = build.Reshape(found, [0] * rank)
    whole = _turned_back(build, found, rank - 2, trips)
    order = build.Squeeze(cut(build, whole, rank - 1, -1), axes=[rank - 1])
    lu = _turned_back(build, cut(build, whole, rank - 1, 0, -1), rank - 1, trips)
    exchanges, pivots = (lined(build, one, rank) for one in (places, heads))
    return lu, exchanges, pivots, build.Cast(order, to=TensorProto.INT64)


def _spread(build: Builder, column: Value, x: Value, rank: int) -> Value:
    """Repeat a column for each matrix."""
    if rank == 2:
        return column
    return build.Where(build.constant(np.array(True)), column, cut(build, x, rank - 1, 0, 1))


def _turned_back(build: Builder, x: Value, axis: int, trips: Value) -> Value:
    """Put the last ones along an axis, as many as there were steps, before the others."""
    size = build.Gather(build.Shape(x), build.constant(np.array(axis, np.int64)), axis=0)
    start = build.Unsqueeze(build.Sub(size, trips), axes=[0])
    front = build.Slice(x, starts=start, ends=[FAR], axes=[axis])
    back = build.Slice(x, starts=[0], ends=start, axes=[axis])
    return build.Concat(front, back, axis=axis)


def lined(build: Builder, several: Value, rank: int) -> Value:
    """Return what a Loop collected, [N, ..., 1, 1], as [..., N]."""
    named = build.Reshape(several, [0] * (rank + 1))
    flat = build.Squeeze(named, axes=[rank - 1, rank])
    return build.Transpose(flat, perm=[*range(1, rank - 1), 0]) if rank > 2 else flat
