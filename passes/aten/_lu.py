"""LU decompositions with partial pivoting, step by step, and what is read out of them."""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value, need_rank

from ._arguments import Call
from ._eliminating import COMPUTED, cut, pick, pull_pivot
from ._family import Shape, ranked

EMITS = (
    "Abs Add ArgMax Cast Concat Div Equal Greater Mul ReduceMax ReduceMin ReduceSum Slice Squeeze "
    "Sub Where"
)


def matrices_of(build: Builder, call: Call, name: str) -> tuple[Value, int, int, int]:
    """Return matrices that are taken apart step by step, their rank, rows and columns.

    Raises:
        Refuse: Something is unknown, they are no floats, or larger than the option
            ``max_unrolled``.
    """
    x, rank = ranked(call, name, 2)
    if x.dtype not in COMPUTED:
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    rows, columns = x.dim(-2), x.dim(-1)
    most = build.option("max_unrolled")
    if not rows or not columns or max(rows, columns) > most:
        raise Refuse(
            f"the matrices must have 1 to {most} rows and columns; they have {rows}, {columns}"
        )
    build.need_opset(9, ", which has Where")
    return x, rank, rows, columns


def sizes_of(x: Value) -> tuple[Shape, int | str | None, int | str | None]:
    """Return the sizes of matrices: those in front, and how many rows and columns they have."""
    shape = tuple(x.shape or ())
    return shape[:-2], shape[-2], shape[-1]


def steps_of(rows: int | str | None, columns: int | str | None) -> int | None:
    """Return how many steps matrices take; None where a size is open."""
    if isinstance(rows, int) and isinstance(columns, int):
        return min(rows, columns)
    return None


def factorised(build: Builder, x: Value, rows: int, columns: int) -> tuple[Value, Value, Value]:
    """Factorise [..., rows, columns] as LAPACK does.

    Returns:
        Both factors in one matrix, as LAPACK packs them; for each step the row that was exchanged
        with, counted from 1, [..., min(rows, columns)] in int64; and the pivots, of that shape.
    """
    rank = need_rank(x)
    count = min(rows, columns)
    # Rows are exchanged whole, multipliers after what is left of the matrix.
    finished: list[Value] = []
    places: list[Value] = []
    heads: list[Value] = []
    matrix = x
    for step in range(count):
        left, width = rows - step, columns - step
        row, rest, place = pull_pivot(build, matrix, left, left)
        number = np.full((1,) * rank, step + 1, np.int64)
        places.append(
            build.Add(place, number) if place is not None else _each(build, row, rank, number)
        )
        finished.append(_in_order(build, row, rank, width, columns))
        pivot = cut(build, row, rank - 1, 0, 1)
        heads.append(pivot)
        if left == 1:
            break
        # A pivot of 0 heads a column of zeros, which LAPACK leaves as it is.
        some = build.Greater(build.Abs(pivot), 0.0)
        one = build.constant(np.ones((), x.dtype))
        share = build.Div(cut(build, rest, rank - 1, 0, 1), pick(build, some, pivot, one))
        parts = [cut(build, rest, rank - 1, width, columns)] if step else []
        if width > 1:
            ahead = cut(build, row, rank - 1, 1, width)
            moved = build.Mul(share, ahead)
            parts = [build.Sub(cut(build, rest, rank - 1, 1, width), moved), *parts]
        matrix = build.Concat(*parts, share, axis=rank - 1) if parts else share
    if rows > columns:
        finished.append(matrix)
    lu = finished[0] if len(finished) == 1 else build.Concat(*finished, axis=rank - 2)
    return lu, _lined(build, places, rank), _lined(build, heads, rank)


def _lined(build: Builder, several: Sequence[Value], rank: int) -> Value:
    """Return what is [..., 1, 1] each side by side, [..., N]."""
    joined = several[0] if len(several) == 1 else build.Concat(*several, axis=rank - 1)
    return build.Squeeze(joined, axes=[rank - 2])


def _in_order(build: Builder, row: Value, rank: int, width: int, columns: int) -> Value:
    """Return a row whose first `width` entries come after the others."""
    if width == columns:
        return row
    front = cut(build, row, rank - 1, width, columns)
    return build.Concat(front, cut(build, row, rank - 1, 0, width), axis=rank - 1)


def _each(build: Builder, row: Value, rank: int, number: Array) -> Value:
    """Return a number for each matrix, [..., 1, 1], int64."""
    first = build.ArgMax(row, axis=rank - 1, keepdims=1)
    return build.Add(build.Sub(first, first), number)


def row_order(build: Builder, pivots: Value, rows: int, count: int) -> Value:
    """Return the row that each one came from, after the exchanges, along the last axis.

    Args:
        build: The builder.
        pivots: The row of each exchange, counted from 1, [..., count] in int32 or int64.
        rows: How many rows there are.
        count: How many exchanges there are.
    """
    rank = need_rank(pivots)
    places = build.Sub(build.Cast(pivots, to=TensorProto.INT64), np.array(1))
    every = np.arange(rows)
    # In the rank of the pivots, so that each matrix has its own.
    first = build.Slice(places, starts=[0], ends=[1], axes=[rank - 1])
    state = build.Add(build.Sub(first, first), build.constant(every))
    for step in range(count):
        place = build.Slice(places, starts=[step], ends=[step + 1], axes=[rank - 1])
        here = build.Equal(build.constant(every), place)
        there = build.Where(here, state, build.constant(np.array(0)))
        chosen = build.ReduceSum(there, axes=[rank - 1], keepdims=1)
        own = build.Slice(state, starts=[step], ends=[step + 1], axes=[rank - 1])
        moved = build.Where(here, own, state)
        state = build.Where(build.constant(every == step), chosen, moved)
    return state


def permutation(build: Builder, order: Value, rows: int, elem_type: int) -> Value:
    """Return the matrices P that take rows back to where they came from."""
    down = build.constant(np.arange(rows).reshape(-1, 1))
    at = build.Equal(down, build.Unsqueeze(order, axes=[(order.rank or 1) - 1]))
    return build.Cast(at, to=elem_type)


def halves(build: Builder, x: Value, rows: int, columns: int) -> tuple[Value, Value]:
    """Return L, with ones on its diagonal, and U of matrices that hold both."""
    rank, count = x.rank or 0, min(rows, columns)
    left = cut(build, x, rank - 1, 0, count)
    top = cut(build, x, rank - 2, 0, count)
    below = build.constant(np.tri(rows, count, -1, dtype=np.bool_))
    above = build.constant(~np.tri(count, columns, -1, dtype=np.bool_))
    eye = build.constant(np.eye(rows, count, dtype=x.dtype))
    zero = build.constant(np.zeros((), x.dtype))
    return build.Where(below, left, eye), build.Where(above, top, zero)


def substituted(
    build: Builder, factor: Value, b: Value, size: int, *, lower: bool, unit: bool = False
) -> Value:
    """Return X with factor X = b, row by row.

    Args:
        build: The builder.
        factor: Matrices [..., size, size], of which one triangle is read.
        b: [..., size, K].
        size: How many rows there are.
        lower: Whether it is the lower triangle.
        unit: Whether the diagonal is taken for ones.
    """
    rank, own = factor.rank, b.rank
    assert rank is not None
    assert own is not None
    found: list[Value] = []
    for at in range(size) if lower else reversed(range(size)):
        line = cut(build, b, own - 2, at, at + 1)
        if found:
            known = found[0] if len(found) == 1 else build.Concat(*found, axis=own - 2)
            start, end = (0, at) if lower else (at + 1, size)
            share = build.Slice(
                factor, starts=[at, start], ends=[at + 1, end], axes=[rank - 2, rank - 1]
            )
            line = build.Sub(line, build.MatMul(share, known))
        if not unit:
            head = build.Slice(
                factor, starts=[at, at], ends=[at + 1, at + 1], axes=[rank - 2, rank - 1]
            )
            line = build.Div(line, head)
        found = [*found, line] if lower else [line, *found]
    return found[0] if size == 1 else build.Concat(*found, axis=own - 2)
