"""Replace a matrix inverse by Gauss-Jordan elimination with partial pivoting.

What it does:
    Inverts stacks of square matrices with Slice, Abs, ArgMax, Equal, Where, Mul, Sub, Div and
    Concat. Matrices up to the option `max_unrolled` are eliminated step by step in the graph,
    about 19 nodes for each row; larger ones, and those whose size is not known, in a Loop whose
    state keeps its shape. Each step takes the row with the largest entry of the first column as
    pivot, as LAPACK does, divides it, subtracts it from all others and drops the column; the
    finished row goes to the end.

Why engines need it:
    ONNX has no inverse, so PyTorch writes an ATen node (operator linalg_inv, inverse or
    linalg_inv_ex), ONNX Runtime has com.microsoft::Inverse, and neither is known elsewhere.

Before:
    y = org.pytorch.aten.ATen <operator = "linalg_inv"> (x)      # x: float[B, 3, 3]

After:
    m0 = Concat <axis = 2> (x, identity)                          # [B, 3, 6]
    place = ArgMax <axis = 1> (Abs (Slice (m0)))                  # the pivot's row
    pivot = ReduceSum <axes = [1]> (Mul (m0, Cast (Equal (place, [0, 1, 2]))))
    rest = Where (Equal (place, [1, 2]), head, tail)
    row = Div (pivot without its first column, pivot's first column)
    m1 = Concat <axis = 1> (Sub (rest, Mul (rest's first column, row)), row)
    ...                                                           # m3 is the inverse

When it refuses:
    The rank or dtype is unknown, the matrices are not square, the type is not float16, float32 or
    float64, the second output of linalg_inv_ex is used, or the size is dynamic below opset 11
    (which brought Range).

Accuracy:
    Exact up to rounding: measured on random, nearly singular (condition 1e4), permuted, zero
    diagonal and badly scaled matrices of 2 to 16 rows, median and 99% error equal those of
    torch.linalg.inv. float16 is computed in float32. A closed form (adjugate by determinant) is
    not used, because it loses digits on ill-conditioned matrices. A singular matrix, for which
    PyTorch raises an error, gives infinities or NaN in its own entry of the stack. What a matrix
    with infinities or NaN gives may differ from PyTorch, in its own entry as well.

References:
    pytorch/pytorch aten/src/ATen/native/native_functions.yaml (linalg_inv, inverse,
    linalg_inv_ex); microsoft/onnxruntime docs/ContribOperators.md (com.microsoft.Inverse);
    https://onnx.ai/onnx/operators/onnx__Loop.html; Golub and Van Loan, Matrix Computations, 3.4
    (partial pivoting).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Option,
    Refuse,
    Value,
    rewrite,
)
from graphfix.passes.aten._arguments import call_of, features, matching
from graphfix.passes.aten._pivoting import (
    cut,
    only_row,
    pick,
    pull_pivot,
    row_numbers,
    square_matrices,
)

NAMES = ("linalg_inv", "inverse", "linalg_inv_ex")
SCHEMAS = {
    "linalg_inv": ("A",),
    "inverse": ("self",),
    "linalg_inv_ex": ("A", "check_errors"),
    "Inverse": ("X",),
}
LARGEST_CONSTANT = 1 << 14


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The inverse has the type and shape of the matrices; linalg_inv_ex counts in int32."""
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    info = None if x.shape is None else x.shape[:-2]
    return (InferredType(x.elem_type, x.shape), InferredType(TensorProto.INT32, info))


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Invert by elimination and back substitution in the type of the matrices.

    `numpy.linalg.inv` would compute float32 in float64 and hide the rounding that PyTorch has.

    Raises:
        numpy.linalg.LinAlgError: A matrix is singular, where PyTorch raises as well.
    """
    x = inputs[0]
    assert x is not None
    kind = np.float32 if x.dtype == np.float16 else x.dtype
    size = x.shape[-1]
    work = x.reshape(-1, size, size).astype(kind)
    work = np.concatenate([work, np.broadcast_to(np.eye(size, dtype=kind), work.shape)], axis=2)
    each = np.arange(len(work))
    for k in range(size):
        place = k + np.abs(work[:, k:, k]).argmax(axis=1)
        work[each, k], work[each, place] = work[each, place], work[each, k].copy()
        if not work[:, k, k].all():
            raise np.linalg.LinAlgError("a matrix is singular")
        factor = work[:, k + 1 :, k : k + 1] / work[:, k : k + 1, k : k + 1]
        work[:, k + 1 :] -= factor * work[:, k : k + 1]
    result = work[:, :, size:].copy()
    for k in reversed(range(size)):
        for j in range(k + 1, size):
            result[:, k] -= work[:, k, j : j + 1] * result[:, j]
        result[:, k] /= work[:, k, k : k + 1]
    return result.reshape(x.shape).astype(x.dtype), np.zeros(x.shape[:-2], dtype=np.int32)


@rewrite(
    (*matching(NAMES), "com.microsoft::Inverse", "Inverse"),
    removes=(*features(NAMES), "op:com.microsoft::Inverse op:Inverse"),
    emits=(
        "Abs Add ArgMax Cast Concat ConstantOfShape Div Equal Expand Gather Loop Mul Range "
        "ReduceMax ReduceMin ReduceSum Reshape Shape Slice Sub Where"
    ),
    options={
        "max_unrolled": Option(
            int, 8, "Largest matrix that is eliminated without a Loop, about 19 nodes a row."
        )
    },
    infer=infer,
    evaluate=evaluate,
)
def aten_linalg_inv(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Invert by elimination, see the module."""
    call = call_of(node, SCHEMAS)
    info = node.output(1)
    if info is not None and info.is_used:
        raise Refuse("the error counts of linalg_inv_ex must not be used; they are")
    x = call.need(call.schema[0])
    size = square_matrices(x)
    if size == 0:
        raise Refuse("the matrices must not be empty; they are")
    half = x.elem_type == TensorProto.FLOAT16
    work = build.Cast(x, to=TensorProto.FLOAT) if half else x
    if size is not None and size <= build.option("max_unrolled"):
        inverse = _unrolled(build, work, size)
    else:
        inverse = _looped(build, work, size)
    if half:
        inverse = build.Cast(inverse, to=TensorProto.FLOAT16)
    return (inverse, *([None] * (len(node.outputs) - 1)))


def _unrolled(build: Builder, x: Value, size: int) -> Value:
    rank = x.rank
    assert rank is not None
    matrix = build.Concat(x, _identity(build, x, size), axis=rank - 1)
    width = 2 * size
    for step in range(size):
        pivot, rest, _ = pull_pivot(build, matrix, size - step, size)
        row = build.Div(cut(build, pivot, rank - 1, 1, width), cut(build, pivot, rank - 1, 0, 1))
        if size == 1:
            return row
        factor = cut(build, rest, rank - 1, 0, 1)
        others = build.Sub(cut(build, rest, rank - 1, 1, width), build.Mul(factor, row))
        matrix = build.Concat(others, row, axis=rank - 2)
        width -= 1
    return matrix


def _identity(build: Builder, x: Value, size: int) -> Value:
    """Return identity matrices in the shape of `x`."""
    rank = x.rank
    assert rank is not None
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


def _looped(build: Builder, x: Value, size: int | None) -> Value:
    """Eliminate in a Loop; columns are rotated, so that the state keeps its shape."""
    rank = x.rank
    assert rank is not None
    numbers, trips, ends = _counting(build, x, size)
    if size is not None:
        eye = _identity(build, x, size)
        live = build.constant(np.ones((size, 1), dtype=x.dtype))
    else:
        across = build.Reshape(numbers, [1, -1])
        eye = _spread(build, build.Cast(build.Equal(numbers, across), to=x.elem_type), x)
        one = np.ones(1, dtype=x.dtype)
        live = build.ConstantOfShape(build.Shape(numbers), value=one)
    later = cut(build, numbers, 0, 1)
    state = build.Concat(x, eye, axis=rank - 1)
    zero = np.zeros((1, 1), dtype=x.dtype)

    def step(inner: Builder, *inputs: Value) -> Sequence[Value]:
        _, going, matrix, alive = inputs
        # Finished rows count less than any entry, so that they are never the pivot.
        size_of = inner.Mul(inner.Abs(cut(inner, matrix, rank - 1, 0, 1)), alive)
        score = inner.Sub(size_of, inner.Sub(inner.constant(np.ones((), x.dtype)), alive))
        place = inner.ArgMax(score, axis=rank - 2, keepdims=1)
        here = inner.Cast(inner.Equal(place, numbers), to=x.elem_type)
        pivot = only_row(inner, inner.Mul(matrix, here), rank - 2)
        head, tail = cut(inner, matrix, rank - 2, 0, 1), cut(inner, matrix, rank - 2, 1)
        rest = pick(inner, inner.Equal(place, later), head, tail)
        row = inner.Div(pivot, cut(inner, pivot, rank - 1, 0, 1))
        others = inner.Sub(rest, inner.Mul(cut(inner, rest, rank - 1, 0, 1), row))
        moved = inner.Concat(others, row, axis=rank - 2)
        turned = inner.Concat(
            cut(inner, moved, rank - 1, 1), cut(inner, moved, rank - 1, 0, 1), axis=rank - 1
        )
        return inner.Identity(going), turned, inner.Concat(cut(inner, alive, 0, 1), zero, axis=0)

    body = build.body(
        [
            ("step", TensorProto.INT64, ()),
            ("going", TensorProto.BOOL, ()),
            ("matrix", x.elem_type, state.shape),
            ("live", x.elem_type, live.shape),
        ],
        step,
    )
    # TensorRT refuses a body that reads a condition which is not given.
    always = build.constant(np.array(True))
    result = build.multi("Loop", trips, always, state, live, outputs=2, body=body)[0]
    return build.Slice(result, starts=[0], ends=ends, axes=[rank - 1])


def _counting(build: Builder, x: Value, size: int | None) -> tuple[Value, Value, Any]:
    """Return 0..N-1 as a column, N as a scalar, and N as a list for Slice."""
    if size is not None:
        numbers = build.constant(row_numbers(2, 0, size))
        return numbers, build.constant(np.array(size, dtype=np.int64)), [size]
    if build.opset < 11:
        raise Refuse(
            f"the size of the matrices must be known, or the opset at least 11; it is {build.opset}"
        )
    rank = x.rank
    assert rank is not None
    shape = build.Shape(x)
    trips = build.Gather(shape, build.constant(np.array(rank - 1, dtype=np.int64)), axis=0)
    zero, one = (build.constant(np.array(n, dtype=np.int64)) for n in (0, 1))
    numbers = build.Reshape(build.Range(zero, trips, one), [-1, 1])
    return numbers, trips, cut(build, shape, 0, rank - 1, rank)
