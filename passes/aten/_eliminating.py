"""Gauss-Jordan elimination of stacks of square matrices, with what is next to them.

Each step takes the row with the largest entry of the first column as pivot, as LAPACK does,
divides it, subtracts it from all others and drops the column; the finished row goes to the end.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import FAR, Array, Builder, Refuse, Value, need_rank

from ._pivoting import cut, only_row, pick, pull_pivot, row_numbers, square_matrices

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
