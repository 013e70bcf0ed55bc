"""Replace factorisations of small matrices: slogdet, logdet, lu_factor, qr and lstsq.

What it does:
    Takes the logarithms of the pivots of an elimination for slogdet and logdet, keeps rows and
    multipliers of the elimination for lu_factor, and reflects by Householder's vectors for qr,
    step by step, for matrices up to the option `max_unrolled`. lstsq solves R x = Q' b.

Why engines need it:
    ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer one does not
    translate them either.

Before:
    q, r = org.pytorch.aten.ATen <operator = "linalg_qr"> (x, "reduced")   # x: float[3, 2]

After:
    v = x[:, 0] + sign * norm; r1 = x - 2 v (v' x) / (v' v)                # and so on
    q = the reflections in the other order, on the identity

When it refuses:
    The rank or dtype is unknown, the sizes are open, zero, or larger than the option allows, the
    type is not float32 or float64, another output of lstsq than the solution is used, or lstsq has
    fewer rows than columns.

Accuracy:
    Exact up to rounding, with the signs and pivots of LAPACK. A singular matrix has minus
    infinity as logarithm and 0 as sign. lstsq takes matrices of full rank, as the default driver
    of PyTorch does on a GPU; others give infinities or NaN.

References:
    pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_slogdet, linalg_lu_factor,
    linalg_qr, linalg_lstsq); LAPACK dgetrf, dgeqrf, dlarfg (the sign);
    Golub and Van Loan, Matrix Computations, 3.4 and 5.2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from graphfix.passes.aten._arguments import ArrayCall, Call, features, matching
from graphfix.passes.aten._family import Family, Function, ranked, unused
from graphfix.passes.aten._pivoting import (
    COMPUTED,
    cut,
    pull_pivot,
    row_numbers,
    signed_pivots,
    square_matrices,
)


def _sizes(build: Builder, call: Call) -> tuple[Value, int, int, int]:
    """Return the matrices, their rank, and how many rows and columns they have.

    Raises:
        Refuse: Something is unknown, or they are too large.
    """
    x, rank = ranked(call, call.schema[0], 2)
    if x.dtype not in COMPUTED:
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    rows, columns = x.dim(-2), x.dim(-1)
    most = build.option("max_unrolled")
    if not rows or not columns or max(rows, columns) > most:
        raise Refuse(
            f"the matrices must have 1 to {most} rows and columns; they have {rows}, {columns}"
        )
    if build.opset < 9:
        raise Refuse(f"the opset must be at least 9, which has Where; it is {build.opset}")
    return x, rank, rows, columns


def _single(build: Builder, x: Value, rank: int) -> Value:
    """Take away the two axes of matrices that are numbers."""
    return build.Squeeze(x, axes=[rank - 2, rank - 1])


def _slogdet(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rank, rows, _ = _sizes(build, call)
    square_matrices(x)
    pivots = signed_pivots(build, x, rows)
    sign: Value | None = None
    total: Value | None = None
    for pivot in pivots:
        size = build.Log(build.Abs(pivot))
        total = size if total is None else build.Add(total, size)
        one = build.Sign(pivot)
        sign = one if sign is None else build.Mul(sign, one)
    assert total is not None
    assert sign is not None
    if call.operator == "logdet":
        none = build.constant(np.array(np.nan, x.dtype))
        negative = build.Less(sign, build.constant(np.zeros((), x.dtype)))
        return (_single(build, build.Where(negative, none, total), rank),)
    return _single(build, sign, rank), _single(build, total, rank)


def _lu(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rank, rows, columns = _sizes(build, call)
    unused(call, 2, "the error counts")
    if rows != columns:
        raise Refuse(f"the matrices must be square; they are {rows} by {columns}")
    if not call.number("pivot", 1):
        raise Refuse("rows must be exchanged; pivot is False")
    # Rows are exchanged whole, multipliers in front of what is left of the matrix.
    finished: list[Value] = []
    places: list[Value] = []
    matrix = x
    for step in range(rows):
        left = rows - step
        if step:
            front = cut(build, matrix, rank - 1, 0, step)
            body = cut(build, matrix, rank - 1, step, columns)
            turned = build.Concat(body, front, axis=rank - 1)
        else:
            turned = matrix
        row, rest, place = pull_pivot(build, turned, left, left)
        here = np.full((1,) * rank, step + 1, np.int64)
        places.append(
            build.Add(place, here) if place is not None else _full(build, row, rank, step + 1)
        )
        pivot, ahead = cut(build, row, rank - 1, 0, 1), cut(build, row, rank - 1, 1, left)
        parts = [cut(build, row, rank - 1, left, columns)] if step else []
        finished.append(build.Concat(*parts, cut(build, row, rank - 1, 0, left), axis=rank - 1))
        if left == 1:
            break
        share = build.Div(cut(build, rest, rank - 1, 0, 1), pivot)
        below = build.Sub(cut(build, rest, rank - 1, 1, left), build.Mul(share, ahead))
        parts = [cut(build, rest, rank - 1, left, columns)] if step else []
        matrix = build.Concat(*parts, share, below, axis=rank - 1)
    lu = finished[0] if rows == 1 else build.Concat(*finished, axis=rank - 2)
    joined = places[0] if rows == 1 else build.Concat(*places, axis=rank - 1)
    pivots = build.Cast(build.Squeeze(joined, axes=[rank - 2]), to=TensorProto.INT32)
    return lu, pivots


def _full(build: Builder, row: Value, rank: int, number: int) -> Value:
    """Return a number for each matrix, [..., 1, 1], int64."""
    first = build.ArgMax(row, axis=rank - 1, keepdims=1)
    return build.Add(build.Sub(first, first), np.full((1,) * rank, number, np.int64))


def _reflected(build: Builder, x: Value, rows: int, columns: int) -> tuple[list[Value], Value]:
    """Return Householder's vectors [..., rows, 1], of length sqrt(2), and R."""
    rank = x.rank
    assert rank is not None
    vectors: list[Value] = []
    for step in range(min(rows - 1, columns)):
        keep = (row_numbers(rank, 0, rows) >= step).astype(x.dtype)
        column = build.Mul(cut(build, x, rank - 1, step, step + 1), keep)
        square = _summed(build, build.Mul(column, column), rank)
        head = cut(build, column, rank - 2, step, step + 1)
        zero, one = (build.constant(np.array(n, x.dtype)) for n in (0, 1))
        # A column that is zero below its head is left as it is, as LAPACK does.
        some = build.Less(zero, _below(build, column, rank, rows, step))
        norm = build.Sqrt(square)
        sign = build.Where(build.Less(head, zero), build.Neg(norm), norm)
        unit = (row_numbers(rank, 0, rows) == step).astype(x.dtype)
        vector = build.Add(column, build.Mul(sign, unit))
        length = _summed(build, build.Mul(vector, vector), rank)
        half = build.Sqrt(build.Div(build.Where(some, length, one), 2.0))
        vector = build.Where(some, build.Div(vector, half), zero)
        vectors.append(vector)
        x = _reflect(build, vector, x, rank)
    return vectors, x


def _below(build: Builder, column: Value, rank: int, rows: int, step: int) -> Value:
    """Return the largest size below the head of a column, [..., 1, 1]."""
    tail = cut(build, column, rank - 2, step + 1, rows)
    return build.ReduceMax(build.Abs(tail), axes=[rank - 2], keepdims=1)


def _summed(build: Builder, x: Value, rank: int) -> Value:
    return build.ReduceSum(x, axes=[rank - 2], keepdims=1)


def _reflect(build: Builder, vector: Value, x: Value, rank: int) -> Value:
    perm = [*range(rank - 2), rank - 1, rank - 2]
    return build.Sub(x, build.MatMul(vector, build.MatMul(build.Transpose(vector, perm=perm), x)))


def _triangle(build: Builder, x: Value, rows: int, columns: int) -> Value:
    """Return R, whose zeros are zeros."""
    kept = np.triu(np.ones((rows, columns), bool))
    return build.Where(build.constant(kept), x, build.constant(np.zeros((), x.dtype)))


def _qr(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rank, rows, columns = _sizes(build, call)
    if "mode" in call.schema:
        mode = call.text("mode", "reduced")
    else:
        mode = "reduced" if call.number("some", 1) else "complete"
    if mode not in ("reduced", "complete"):
        raise Refuse(f"the mode must be reduced or complete; it is {mode}")
    kept = min(rows, columns) if mode == "reduced" else rows
    vectors, r = _reflected(build, x, rows, columns)
    r = _triangle(build, cut(build, r, rank - 2, 0, kept), kept, columns)
    zero = build.Mul(cut(build, x, rank - 1, 0, 1), 0.0)
    q = build.Add(build.constant(np.eye(rows, kept, dtype=x.dtype)), _clean(build, zero))
    for vector in reversed(vectors):
        q = _reflect(build, vector, q, rank)
    return q, r


def _clean(build: Builder, zero: Value) -> Value:
    """Return zeros for each matrix, whatever its numbers are."""
    nothing = build.constant(np.zeros((), zero.dtype))
    return build.Where(build.Equal(zero, nothing), zero, nothing)


def _lstsq(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rank, rows, columns = _sizes(build, call)
    b, own = ranked(call, "b", 2)
    for output, what in ((1, "residuals"), (2, "the rank"), (3, "singular values")):
        unused(call, output, what)
    if rows < columns or own != rank or b.elem_type != x.elem_type:
        raise Refuse(
            "there must be as many rows as columns, and right sides of one rank and type; there "
            f"are {rows} rows of {columns}"
        )
    vectors, r = _reflected(build, x, rows, columns)
    for vector in vectors:
        b = _reflect(build, vector, b, rank)
    found: list[Value] = []
    for at in reversed(range(columns)):
        line = cut(build, b, rank - 2, at, at + 1)
        for other, value in zip(range(columns - 1, at, -1), found, strict=True):
            factor = _entry(build, r, rank, at, other)
            line = build.Sub(line, build.Mul(factor, value))
        found.append(build.Div(line, _entry(build, r, rank, at, at)))
    if columns == 1:
        return (found[0],)
    return (build.Concat(*found[::-1], axis=rank - 2),)


def _entry(build: Builder, x: Value, rank: int, row: int, column: int) -> Value:
    return build.Slice(
        x, starts=[row, column], ends=[row + 1, column + 1], axes=[rank - 2, rank - 1]
    )


Shapes = Callable[[tuple[Any, ...], Any, Any, Call], Sequence[tuple[Any, ...]]]


def _inferred(shapes: Shapes) -> Callable[[Call], Sequence[InferredType | None]]:
    def infer(call: Call) -> Sequence[InferredType | None]:
        x, _ = ranked(call, call.schema[0], 2)
        shape = tuple(x.shape or ())
        found = shapes(shape[:-2], shape[-2], shape[-1], call)
        whole = "lu" in call.operator
        kinds = [x.elem_type, TensorProto.INT32 if whole else x.elem_type, TensorProto.INT32]
        return [InferredType(k, s) for k, s in zip(kinds, found, strict=False)]

    return infer


def _qr_shapes(front: Any, rows: Any, columns: Any, call: Call) -> Sequence[tuple[Any, ...]]:
    mode = call.text("mode", "reduced") if "mode" in call.schema else ""
    whole = mode == "complete" or ("some" in call.schema and not call.number("some", 1))
    known = isinstance(rows, int) and isinstance(columns, int)
    kept = rows if whole else min(rows, columns) if known else None
    return (*front, rows, kept), (*front, kept, columns)


def _slogdet_model(call: ArrayCall) -> Any:
    x = call.need(call.schema[0])
    sign, size = np.linalg.slogdet(x.astype(np.float64))
    return sign.astype(x.dtype), size.astype(x.dtype)


def _logdet_model(call: ArrayCall) -> Any:
    x = call.need("self")
    sign, size = np.linalg.slogdet(x.astype(np.float64))
    return np.where(sign < 0, np.nan, size).astype(x.dtype)


def _lu_model(call: ArrayCall) -> Any:
    x = call.need("A")
    size = x.shape[-1]
    work: Array = x.reshape(-1, size, size).astype(np.float64)
    pivots: Array = np.zeros((len(work), size), np.int32)
    each = np.arange(len(work))
    for k in range(size):
        place = k + np.abs(work[:, k:, k]).argmax(axis=1)
        pivots[:, k] = place + 1
        work[each, k], work[each, place] = work[each, place], work[each, k].copy()
        work[:, k + 1 :, k] /= work[:, k, k][:, None]
        work[:, k + 1 :, k + 1 :] -= work[:, k + 1 :, k : k + 1] * work[:, k : k + 1, k + 1 :]
    shape = (*x.shape[:-2], size)
    return np.asarray(work.reshape(x.shape), x.dtype), pivots.reshape(shape)


def _qr_model(call: ArrayCall) -> Any:
    x = call.need(call.schema[0])
    if "mode" in call.schema:
        mode: Any = str(call.array("mode") if call.array("mode") is not None else "reduced")
    else:
        mode = "reduced" if call.number("some", 1) else "complete"
    q, r = np.linalg.qr(x.astype(np.float64), "complete" if "complete" in mode else "reduced")
    return q.astype(x.dtype), r.astype(x.dtype)


def _lstsq_model(call: ArrayCall) -> Any:
    x, b = call.need("self"), call.need("b")
    inverse: Array = np.linalg.pinv(x.astype(np.float64))
    return np.asarray(inverse @ b.astype(np.float64), x.dtype)


_SLOGDET = _inferred(lambda front, _, __, ___: (front, front))
_QR = _inferred(_qr_shapes)
_LU = _inferred(lambda front, rows, columns, _: ((*front, rows, columns), (*front, rows), front))
FAMILY = Family(
    {
        "linalg_slogdet": Function(("A",), _slogdet, _slogdet_model, _SLOGDET),
        "slogdet": Function(("self",), _slogdet, _slogdet_model, _SLOGDET),
        "logdet": Function(("self",), _slogdet, _logdet_model, _SLOGDET),
        "linalg_lu_factor": Function(("A", "pivot"), _lu, _lu_model, _LU),
        "linalg_lu_factor_ex": Function(("A", "pivot", "check_errors"), _lu, _lu_model, _LU),
        "linalg_qr": Function(("A", "mode"), _qr, _qr_model, _QR),
        "qr": Function(("self", "some"), _qr, _qr_model, _QR),
        "linalg_lstsq": Function(
            ("self", "b", "rcond", "driver"),
            _lstsq,
            _lstsq_model,
            _inferred(lambda front, _, columns, call: ((*front, columns, call.need("b").dim(-1)),)),
        ),
    }
)


@rewrite(
    matching(FAMILY.names),
    removes=features(FAMILY.names),
    emits=(
        "Abs Add ArgMax Cast Concat Div Equal Greater Less Log MatMul Mul Neg ReduceMax ReduceMin "
        "ReduceSum Sign Slice Sqrt Squeeze Sub Transpose Where"
    ),
    options={"max_unrolled": Option(int, 8, "Largest number of rows or columns.")},
    infer=FAMILY.infer,
    evaluate=FAMILY.evaluate,
)
def aten_linalg_qr(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Factorise step by step, see the module."""
    return FAMILY.write(node, build)
