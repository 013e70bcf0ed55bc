"""Replace slogdet, logdet, qr and lstsq of small matrices.

What it does: Takes the logarithms of the pivots of an elimination for slogdet and logdet, and
    reflects by Householder's vectors for qr, step by step, for matrices up to the option
    `max_unrolled`. lstsq solves R x = Q' b; with fewer rows than columns the least solution is Q
    R'^-1 b of A' = Q R.
Why engines need it: ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer
    one does not translate them either.
Before: q, r = org.pytorch.aten.ATen <operator = "linalg_qr"> (x, "reduced")   # x: float[3, 2]
After:
    v = x[:, 0] + sign * norm; r1 = x - 2 v (v' x) / (v' v)                # and so on
    q = the reflections in the other order, on the identity
When it refuses: The rank or dtype is unknown, the sizes are open, zero, or larger than the option
    allows, the type is not float32 or float64, or an output of lstsq is used that needs the rank or
    singular values: the rank and residuals with a driver other than gels, singular values with
    gelss, gelsd.
Accuracy: Exact up to rounding, with the signs and pivots of LAPACK. A singular matrix has minus
    infinity as logarithm and 0 as sign. lstsq takes matrices of full rank; others give infinities
    or NaN, for which the driver gels of PyTorch gives an error, so that this is approximate with
    another driver. Residuals that should be 0 are what rounding leaves of them.
References: pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_slogdet, linalg_qr,
    linalg_lstsq_out); LAPACK dgetrf, dgeqrf, dgels, dlarfg (the sign); Golub and Van Loan, Matrix
    Computations, 3.4 and 5.2
"""

from typing import Any

import numpy as np

from graphfix.authoring import APPROXIMATE, Array, Builder, Option, Refuse, Value, need_rank

from ._arguments import ArrayCall, Call
from ._eliminating import COMPUTED, cut, row_numbers, signed_pivots, square_matrices
from ._family import Family, Function, ranked, unused
from ._lu import matrices_of, substituted


def _single(build: Builder, x: Value, rank: int) -> Value:
    """Take away the two axes of matrices that are numbers."""
    return build.Squeeze(x, axes=[rank - 2, rank - 1])


def _of_nothing(build: Builder, call: Call) -> tuple[Value, ...]:
    """Return sign 1 and logarithm 0 for each matrix without rows and columns.

    Raises:
        Refuse: How many there are is not known.
    """
    x = call.need(call.schema[0])
    front = tuple(n for n in (x.shape or ())[:-2] if isinstance(n, int))
    if x.dtype not in COMPUTED or len(front) != (x.rank or 0) - 2:
        raise Refuse(f"{x.name} must be float32 or float64 of known sizes; it is {x.type_name}")
    zero, one = (build.constant(np.full(front, n, x.dtype)) for n in (0, 1))
    return (zero,) if call.operator == "logdet" else (one, zero)


def _slogdet(build: Builder, call: Call) -> tuple[Value, ...]:
    if square_matrices(call.need(call.schema[0])) == 0:
        return _of_nothing(build, call)
    x, rank, rows, _ = matrices_of(build, call, call.schema[0])
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


def _reflected(build: Builder, x: Value, rows: int, columns: int) -> tuple[list[Value], Value]:
    """Return Householder's vectors [..., rows, 1], of length sqrt(2), and R."""
    rank = need_rank(x)
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
    x, rank, rows, columns = matrices_of(build, call, call.schema[0])
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
    """Return zeros for each matrix, whatever its values are."""
    nothing = build.constant(np.zeros((), zero.dtype))
    return build.Where(build.Equal(zero, nothing), zero, nothing)


def _lstsq(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rank, rows, columns = matrices_of(build, call, "self")
    b, own = ranked(call, "b", 2)
    if own != rank or b.elem_type != x.elem_type:
        raise Refuse(f"{b.name} must have the type and the rank of {x.name}")
    further = _further(build, call, x, rows > columns)
    if call.text("driver", "gelsy") != "gels":
        build.declare(APPROXIMATE, "up to rounding where the matrices are of full rank")
    if rows < columns:
        return _least(build, x, b, rows, columns), *further
    vectors, r = _reflected(build, x, rows, columns)
    for vector in vectors:
        b = _reflect(build, vector, b, rank)
    if further and rows > columns:
        rest = cut(build, b, rank - 2, columns, rows)
        square = build.ReduceSum(build.Mul(rest, rest), axes=[rank - 2], keepdims=0)
        further = (square, *further[1:])
    top = cut(build, b, rank - 2, 0, columns) if rows > columns else b
    return substituted(build, r, top, columns, lower=False), *further


def _least(build: Builder, x: Value, b: Value, rows: int, columns: int) -> Value:
    """Return the least of the many solutions, Q R'^-1 b of x' = Q R."""
    rank = need_rank(x)
    turn = [*range(rank - 2), rank - 1, rank - 2]
    vectors, r = _reflected(build, build.Transpose(x, perm=turn), columns, rows)
    factor = build.Transpose(r, perm=turn)
    found = substituted(build, factor, b, rows, lower=True)
    pads = [0] * (2 * rank)
    pads[-2] = columns - rows
    found = build.Pad(found, pads=pads, mode="constant")
    for vector in reversed(vectors):
        found = _reflect(build, vector, found, rank)
    return found


def _further(build: Builder, call: Call, x: Value, over: bool) -> tuple[Value, ...]:
    """Return what PyTorch gives apart from the solution where that is empty, if it is used.

    Raises:
        Refuse: It is computed of singular values or of the rank.
    """
    driver = call.text("driver", "gelsy")
    if driver != "gels":
        unused(call, 2, "the rank")
    if driver not in ("gels", "gelsy"):
        unused(call, 1, "residuals")
        unused(call, 3, "singular values")
    shown = [call.node.output(at) for at in (1, 2, 3)]
    if not any(value is not None and value.is_used for value in shown):
        return ()
    if over and driver == "gelsy":
        unused(call, 1, "residuals")
    nothing = build.constant(np.zeros(0, x.dtype))
    return nothing, build.constant(np.zeros(0, np.int64)), nothing


def _slogdet_model(call: ArrayCall) -> Any:
    x = call.need(call.schema[0])
    sign, size = np.linalg.slogdet(x.astype(np.float64))
    return sign.astype(x.dtype), size.astype(x.dtype)


def _logdet_model(call: ArrayCall) -> Any:
    x = call.need("self")
    sign, size = np.linalg.slogdet(x.astype(np.float64))
    return np.where(sign < 0, np.nan, size).astype(x.dtype)


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
    if (np.linalg.matrix_rank(x) < min(x.shape[-2:])).any():
        raise np.linalg.LinAlgError("a matrix is not of full rank")
    wide, sides = x.astype(np.float64), b.astype(np.float64)
    inverse: Array = np.linalg.pinv(wide)
    found = inverse @ sides
    given = call.array("driver")
    driver, nothing = "gelsy" if given is None else str(given), np.zeros(0, x.dtype)
    rest = nothing
    if driver != "gelsy" and x.shape[-2] > x.shape[-1]:
        rest = np.sum((sides - wide @ found) ** 2, axis=-2).astype(x.dtype)
    ranks = np.zeros(0, np.int64)
    if driver != "gels":
        ranks = np.full(x.shape[:-2], min(x.shape[-2:]), np.int64)
    return np.asarray(found, x.dtype), rest, ranks, nothing


FAMILY = Family(
    {
        "linalg_slogdet": Function(("A",), _slogdet, _slogdet_model),
        "slogdet": Function(("self",), _slogdet, _slogdet_model),
        "logdet": Function(("self",), _slogdet, _logdet_model),
        "linalg_qr": Function(("A", "mode"), _qr, _qr_model),
        "qr": Function(("self", "some"), _qr, _qr_model),
        "linalg_lstsq": Function(("self", "b", "rcond", "driver"), _lstsq, _lstsq_model),
    }
)


aten_linalg_qr = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add ArgMax Cast Concat Div Equal Greater Less Log MatMul Mul Neg Pad ReduceMax "
        "ReduceMin ReduceSum Sign Slice Sqrt Squeeze Sub Transpose Where"
    ),
    options={"max_unrolled": Option(int, 8, "Largest number of rows or columns.")},
)
