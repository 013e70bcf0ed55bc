"""Gauss-Jordan elimination of stacks of square matrices, with partial pivoting, step by step.

Each step takes the row with the largest entry of the first column as pivot, as LAPACK does,
divides it, subtracts it from all others and drops the column; the finished row goes to the end. All
is out of operators that every engine has: no scatter, no gather with computed indices. The pivot
row is picked by a mask of zeros and one one, which is exact for finite numbers.
"""

from collections.abc import Callable, Sequence
from typing import Any

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


LARGEST_CONSTANT = 1 << 14
_ROUNDED = 8  # a pivot of less than so many roundings of the largest element of its row is none
EMITS = (
    "Abs Add ArgMax Cast Concat ConstantOfShape Div Equal Expand Gather Identity Loop Mul Range "
    "ReduceMax ReduceMin ReduceSum Reshape Shape Slice Squeeze Sub Where"
)


def eliminated(build: Builder, x: Value, right: Value | None, most: int) -> Value:
    """Return X with x X = right, see `with_pivots`."""
    return with_pivots(build, x, right, most, pivots=False)[0]


def with_pivots(
    build: Builder, x: Value, right: Value | None, most: int, *, pivots: bool = True
) -> tuple[Value, Value]:
    """Return X with x X = right, in the type of the matrices, and the pivots, [..., N].

    float16 is computed in float32.

    Args:
        build: The builder.
        x: Square matrices, [..., N, N].
        right: [..., N, K] of the same type and the same sizes in front; None for the identity.
        most: The largest N that is eliminated without a Loop.
        pivots: Whether the pivots are wanted; without, what is given for them does not count.

    Raises:
        Refuse: The matrices are not square floats, or their size is open below opset 11.
    """
    size = square_matrices(x)
    if size == 0:  # nothing to compute: as many elements as there are
        found = build.Identity(x if right is None else right)
        axes = [need_rank(x) - 2]
        return found, build.ReduceSum(x, axes=axes, keepdims=0) if pivots else found
    half = x.elem_type == TensorProto.FLOAT16
    work = build.Cast(x, to=TensorProto.FLOAT) if half else x
    other = build.Cast(right, to=TensorProto.FLOAT) if half and right is not None else right
    if size is not None and size <= most:
        found, heads = _unrolled(build, work, other, size)
    else:
        found, heads = _looped(build, work, other, size, pivots=pivots)
    return build.Cast(found, to=TensorProto.FLOAT16) if half else found, heads


def _unrolled(build: Builder, x: Value, right: Value | None, size: int) -> tuple[Value, Value]:
    rank = need_rank(x)
    if right is None:
        right = _identity(build, x, size)
    across = right.dim(rank - 1)
    matrix = build.Concat(x, right, axis=rank - 1)
    width = FAR if across is None else size + across
    heads: list[Value] = []
    for step in range(size):
        pivot, rest, _ = pull_pivot(build, matrix, size - step, size)
        heads.append(cut(build, pivot, rank - 1, 0, 1))
        row = build.Div(cut(build, pivot, rank - 1, 1, width), heads[-1])
        if size == 1:
            return row, build.Squeeze(heads[0], axes=[rank - 2])
        factor = cut(build, rest, rank - 1, 0, 1)
        others = build.Sub(cut(build, rest, rank - 1, 1, width), build.Mul(factor, row))
        matrix = build.Concat(others, row, axis=rank - 2)
        width = width if across is None else width - 1
    return matrix, build.Squeeze(build.Concat(*heads, axis=rank - 1), axes=[rank - 2])


def _identity(build: Builder, x: Value, size: int) -> Value:
    """Return identity matrices in the shape of `x`."""
    rank = need_rank(x)
    eye = np.eye(size, dtype=x.dtype).reshape((1,) * (rank - 2) + (size, size))
    static = x.static_shape
    if static is not None and np.prod(static, dtype=np.int64) <= LARGEST_CONSTANT:
        return build.constant(np.ascontiguousarray(np.broadcast_to(eye, static)))
    if rank == 2:
        return build.constant(eye)
    return _spread(build, build.constant(eye), x)


def _spread(build: Builder, eye: Value, x: Value) -> Value:
    if build.opset >= 8:
        return build.Expand(eye, build.Shape(x))
    # Expand came with opset 8. Only a matrix with infinities or NaN, which has no inverse, shows.
    return build.Add(build.Mul(x, 0.0), eye)


def _looped(
    build: Builder, x: Value, right: Value | None, size: int | None, *, pivots: bool
) -> tuple[Value, Value]:
    """Eliminate in a Loop; columns are rotated, so that the state keeps its shape."""
    rank = need_rank(x)
    numbers, trips, ends = counting(build, x, size)
    if size is not None:
        eye = _identity(build, x, size) if right is None else right
        live = build.constant(np.ones((size, 1), dtype=x.dtype))
    else:
        across = build.Reshape(numbers, [1, -1])
        if right is None:
            eye = _spread(build, build.Cast(build.Equal(numbers, across), to=x.elem_type), x)
        else:
            eye = right
        one = np.ones(1, dtype=x.dtype)
        live = build.ConstantOfShape(build.Shape(numbers), value=one)
    later = cut(build, numbers, 0, 1)
    state = build.Concat(x, eye, axis=rank - 1)
    zero = np.zeros((1, 1), dtype=x.dtype)
    # Only the shape counts, [..., 1, N].
    heads = [build.ReduceSum(x, axes=[rank - 2], keepdims=1)] if pivots else []

    def step(inner: Builder, *inputs: Value) -> Sequence[Value]:
        _, going, matrix, alive, *found = inputs
        # Finished rows count less than any entry, so that they are never the pivot.
        size_of = inner.Mul(inner.Abs(cut(inner, matrix, rank - 1, 0, 1)), alive)
        score = inner.Sub(size_of, inner.Sub(inner.constant(np.ones((), x.dtype)), alive))
        place = inner.ArgMax(score, axis=rank - 2, keepdims=1)
        here = inner.Cast(inner.Equal(place, numbers), to=x.elem_type)
        pivot = only_row(inner, inner.Mul(matrix, here), rank - 2)
        head, tail = cut(inner, matrix, rank - 2, 0, 1), cut(inner, matrix, rank - 2, 1)
        rest = pick(inner, inner.Equal(place, later), head, tail)
        first = cut(inner, pivot, rank - 1, 0, 1)
        row = inner.Div(pivot, first)
        others = inner.Sub(rest, inner.Mul(cut(inner, rest, rank - 1, 0, 1), row))
        moved = inner.Concat(others, row, axis=rank - 2)
        turned = inner.Concat(
            cut(inner, moved, rank - 1, 1), cut(inner, moved, rank - 1, 0, 1), axis=rank - 1
        )
        found = [inner.Concat(cut(inner, f, rank - 1, 1), first, axis=rank - 1) for f in found]
        left = inner.Concat(cut(inner, alive, 0, 1), zero, axis=0)
        return inner.Identity(going), turned, left, *found

    body = build.body(
        [
            ("step", TensorProto.INT64, ()),
            ("going", TensorProto.BOOL, ()),
            ("matrix", x.elem_type, state.shape),
            ("live", x.elem_type, live.shape),
            *(("pivots", x.elem_type, head.shape) for head in heads),
        ],
        step,
    )
    # TensorRT refuses a body that reads a condition which is not given.
    always = build.constant(np.array(True))
    result, *others = build.multi(
        "Loop", trips, always, state, live, *heads, outputs=2 + len(heads), body=body
    )
    if right is not None:
        width = right.dim(rank - 1)
        ends = [width] if width is not None else cut(build, build.Shape(right), 0, rank - 1, rank)
    found = build.Slice(result, starts=[0], ends=ends, axes=[rank - 1])
    if not pivots:
        return found, found
    # Nothing says the rank of what a Loop gives; 0 copies a size.
    named = build.Reshape(others[1], [0] * rank)
    return found, build.Squeeze(named, axes=[rank - 2])


def counting(build: Builder, x: Value, size: int | None) -> tuple[Value, Value, Any]:
    """Return 0..N-1 as a column, N as a scalar, and N as a list for Slice."""
    if size is not None:
        numbers = build.constant(row_numbers(2, 0, size))
        return numbers, build.constant(np.array(size, dtype=np.int64)), [size]
    if build.opset < 11:
        raise Refuse(
            f"the size of the matrices must be known, or the opset at least 11; it is {build.opset}"
        )
    rank = need_rank(x)
    shape = build.Shape(x)
    trips = build.Gather(shape, build.constant(np.array(rank - 1, dtype=np.int64)), axis=0)
    zero, one = (build.constant(np.array(n, dtype=np.int64)) for n in (0, 1))
    numbers = build.Reshape(build.Range(zero, trips, one), [-1, 1])
    return numbers, trips, cut(build, shape, 0, rank - 1, rank)


def solution(a: Array, b: Array) -> Array:
    """Solve a X = b by elimination and back substitution, in the type of the matrices.

    `numpy.linalg` would compute float32 in float64 and hide the rounding that PyTorch has; float16
    is computed in float32.

    Raises:
        numpy.linalg.LinAlgError: A matrix is singular, where PyTorch raises as well, or so nearly
            that what PyTorch gives is rounding alone.
    """
    front = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    size, across = a.shape[-1], b.shape[-1]
    kind = np.float32 if a.dtype == np.float16 else a.dtype
    left = np.broadcast_to(a, (*front, size, size)).reshape(-1, size, size)
    right = np.broadcast_to(b, (*front, size, across)).reshape(-1, size, across)
    work: Array = np.concatenate([left, right], axis=2).astype(kind)
    each = np.arange(len(work))
    # In each row as large as its elements are.
    least = np.abs(work[:, :, :size]).max(axis=2, initial=0)
    least = least * (_ROUNDED * size * np.finfo(work.dtype).eps)
    for k in range(size):
        place = k + np.abs(work[:, k:, k]).argmax(axis=1)
        work[each, k], work[each, place] = work[each, place], work[each, k].copy()
        least[each, k], least[each, place] = least[each, place], least[each, k].copy()
        if (np.abs(work[:, k, k]) <= least[:, k]).any():
            raise np.linalg.LinAlgError("a matrix is singular")
        factor = work[:, k + 1 :, k : k + 1] / work[:, k : k + 1, k : k + 1]
        work[:, k + 1 :] -= factor * work[:, k : k + 1]
    found = substitution(work[:, :, :size], work[:, :, size:])
    return np.asarray(found.reshape(*front, size, across), a.dtype)


def substitution(factor: Array, b: Array, *, lower: bool = False, unit: bool = False) -> Array:
    """Solve with one triangle of matrices, row by row, in the type of the right sides.

    Args:
        factor: [..., N, N], of which one triangle is read.
        b: [..., N, K].
        lower: Whether it is the lower one.
        unit: Whether the diagonal is taken for ones.
    """
    found: Array = np.array(np.broadcast_arrays(b, factor[..., :1])[0])
    size = factor.shape[-1]
    for k in range(size) if lower else reversed(range(size)):
        for j in range(k) if lower else range(k + 1, size):
            found[..., k, :] -= factor[..., k, j : j + 1] * found[..., j, :]
        if not unit:
            found[..., k, :] /= factor[..., k, k : k + 1]
    return found
