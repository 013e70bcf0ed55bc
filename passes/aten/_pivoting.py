"""Elimination with partial pivoting, a step at a time, out of operators that every engine has.

No scatter, no gather with computed indices: the pivot row is picked by a mask of zeros and one
one, which is exact for finite numbers.
"""

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    FAR,
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    counted,
    need_rank,
    size_of,
)

FLOAT16 = np.dtype(np.float16)
COMPUTED = (np.dtype(np.float32), np.dtype(np.float64))


def square_matrices(x: Value) -> int | None:
    """Return N of a stack of N x N matrices; None while N is not known.

    Raises:
        Refuse: The rank or the dtype is unknown, or the matrices are not square floats.
    """
    rank = need_rank(x)
    if rank < 2:
        raise Refuse(f"the rank of {x.name} must be at least 2; it is {rank}")
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} must be known")
    if x.dtype not in (*COMPUTED, FLOAT16):
        raise Refuse(f"{x.name} must be a dtype that elimination is done in; it is {x.type_name}")
    rows, columns = x.dim(-2), x.dim(-1)
    if rows is not None and columns is not None and rows != columns:
        raise Refuse(f"the matrices must be square; they are {rows} by {columns}")
    return rows if rows is not None else columns


def like_matrices(node: NodeView) -> Sequence[InferredType | None]:
    """Infer a result like the matrices, and int32 for each of them, such as counts of errors."""
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    info = None if x.shape is None else x.shape[:-2]
    return (InferredType(x.elem_type, x.shape), InferredType(TensorProto.INT32, info))


def cut(build: Builder, x: Value, axis: int, start: int, end: int = FAR) -> Value:
    """Return a slice of `x` along one axis."""
    return build.Slice(x, starts=[start], ends=[end], axes=[axis])


def unit_matrix(build: Builder, x: Value, axis: int = -1) -> Value:
    """Return the identity matrix of the size of `x` along an axis, known or not."""
    numbers = counted(x, axis, build)
    known = build.const(numbers)
    if known is not None:
        return build.constant(np.eye(len(known), dtype=x.dtype))
    same = build.Equal(numbers, build.Unsqueeze(numbers, axes=[1]))
    return build.Cast(same, to=x.elem_type)


def turned(build: Builder, x: Value) -> Value:
    """Return matrices whose rows are columns."""
    rank = need_rank(x)
    return build.Transpose(x, perm=[*range(rank - 2), rank - 1, rank - 2])


def size_value(build: Builder, x: Value, axis: int) -> Value:
    """Return a size, known or not, as int64 without axes."""
    size = size_of(x, axis, build)
    return build.constant(np.array(size, np.int64)) if isinstance(size, int) else size


def in_steps(
    build: Builder,
    trips: Value,
    state: Value,
    step: Callable[..., Sequence[Value]],
    *,
    outputs: int = 1,
) -> Sequence[Value]:
    """Return what a Loop makes of one state, and what it collects.

    Args:
        build: The builder.
        trips: How often it goes round.
        state: What it begins with; it keeps its shape.
        step: From a builder, the number of the round, the condition and the state to the condition,
            the state, and what is collected.
        outputs: How many results there are: the state, and each that is collected.
    """
    carried = [
        ("step", TensorProto.INT64, ()),
        ("going", TensorProto.BOOL, ()),
        ("state", state.elem_type, state.shape),
    ]
    # TensorRT refuses a body that reads a condition which is not given.
    always = build.constant(np.array(True))
    body = build.body(carried, step)
    return build.multi("Loop", trips, always, state, outputs=outputs, body=body)


def row_numbers(rank: int, start: int, end: int) -> Array:
    """Return start..end-1 as an int64 column that broadcasts over matrices of `rank`."""
    return np.arange(start, end, dtype=np.int64).reshape((1,) * (rank - 2) + (-1, 1))


def pick(build: Builder, condition: Value, yes: Value, no: Value) -> Value:
    """Return `yes` where `condition` holds and `no` elsewhere, Where or not."""
    if build.opset >= 9:
        return build.Where(condition, yes, no)
    # Where came with opset 9. The products are exact: one factor is 0 or 1.
    mask = build.Cast(condition, to=no.elem_type)
    return build.Add(build.Mul(yes, mask), build.Mul(no, build.Sub(build.constant(_one(no)), mask)))


def _one(like: Value) -> Array:
    return np.ones((), dtype=like.dtype)


def only_row(build: Builder, masked: Value, axis: int) -> Value:
    """Return the one row of `masked` that is not all zeros, the axis kept.

    The sum of one value and zeros is exact. ReduceSum takes its axes as an input from opset 13
    on, which parsers up to TensorRT 7.2 do not read; the largest and the least entry add up to
    the same number, and their axes are attributes up to opset 17.
    """
    if 13 <= build.opset < 18:
        largest = build.ReduceMax(masked, axes=[axis], keepdims=1)
        return build.Add(largest, build.ReduceMin(masked, axes=[axis], keepdims=1))
    return build.ReduceSum(masked, axes=[axis], keepdims=1)


def pull_pivot(
    build: Builder, matrix: Value, active: int, rows: int
) -> tuple[Value, Value, Value | None]:
    """Take the pivot row out of a stack of matrices.

    Args:
        build: The builder.
        matrix: [..., rows, W]; the rows from `active` on are finished and never pivots.
        active: How many rows may be the pivot.
        rows: How many rows there are.

    Returns:
        The row with the largest absolute entry in the first column, [..., 1, W]; the other rows,
        the first one in the place of the pivot, [..., rows - 1, W]; and the pivot's place,
        [..., 1, 1], or None where only the first row could be it.
    """
    rank = need_rank(matrix)
    head = cut(build, matrix, rank - 2, 0, 1)
    tail = cut(build, matrix, rank - 2, 1, rows)
    if active == 1:
        return head, tail, None
    column = build.Slice(matrix, starts=[0, 0], ends=[active, 1], axes=[rank - 2, rank - 1])
    place = build.ArgMax(build.Abs(column), axis=rank - 2, keepdims=1)
    here = build.Cast(build.Equal(place, row_numbers(rank, 0, rows)), to=matrix.elem_type)
    pivot = only_row(build, build.Mul(matrix, here), rank - 2)
    rest = pick(build, build.Equal(place, row_numbers(rank, 1, rows)), head, tail)
    return pivot, rest, place


def signed_pivots(build: Builder, matrix: Value, size: int) -> list[Value]:
    """Return the pivots of stacks of `size` x `size` matrices, [..., 1, 1] each.

    An exchange of rows turns the sign of its pivot, so that their product is the determinant.
    """
    rank = need_rank(matrix)
    one = build.constant(_one(matrix))
    found: list[Value] = []
    for step in range(size):
        rows = size - step
        row, rest, place = pull_pivot(build, matrix, rows, rows)
        pivot = cut(build, row, rank - 1, 0, 1)
        factor = pivot
        if place is not None:
            # The first row stays in its place or is exchanged, which turns the sign.
            stays = build.Equal(place, np.zeros((1,) * rank, dtype=np.int64))
            same = build.Cast(stays, to=matrix.elem_type)
            factor = build.Mul(pivot, build.Sub(build.Add(same, same), one))
        found.append(factor)
        if rows == 1:
            break
        # A pivot of zero means a column of zeros: whatever it is divided by, zero is subtracted.
        some = build.Cast(build.Greater(build.Abs(pivot), 0.0), to=matrix.elem_type)
        divisor = build.Add(pivot, build.Sub(one, some))
        share = build.Div(cut(build, rest, rank - 1, 0, 1), divisor)
        moved = build.Mul(share, cut(build, row, rank - 1, 1, rows))
        matrix = build.Sub(cut(build, rest, rank - 1, 1, rows), moved)
    return found
