"""Replace systems of linear equations by elimination with partial pivoting.

What it does: Solves A X = B by Gauss-Jordan elimination of [A, B]: linalg_solve, linalg_solve_ex,
    linalg_solve_triangular and triangular_solve (of the half that counts), cholesky_solve and
    cholesky_inverse (twice, with the factor and its transpose), and matrix powers, by squaring.
Why engines need it: ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer
    one does not translate them either.
Before:
    y = org.pytorch.aten.ATen <operator = "linalg_solve"> (a, b, 1)    # a: float[2, 2], b: [2, 1]
After:
    m = Concat <axis = 1> (a, b)                                       # [2, 3]
    ...                             # as the inverse of a matrix, see aten-linalg-inv
    y                                                                  # [2, 1]
When it refuses: A rank or dtype is unknown, the matrices are not square, the type is not float16,
    float32 or float64, it is unknown whether B is a vector, the error counts are used of a B
    that is shared by several matrices, or the size is open below opset 11.
Accuracy: Exact up to rounding, as the elimination of LAPACK that PyTorch uses; a singular matrix,
    for which PyTorch raises an error, gives infinities or NaN. float16 is computed in float32.
    Approximate where the error counts of linalg_solve_ex are used: rounding decides whether the
    pivot of a matrix that is nearly singular is 0.
References: pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_solve,
    solve_triangular, cholesky_solve) and LinearAlgebra.cpp (matrix_power); Golub and Van Loan,
    Matrix Computations, 3.4
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    Option,
    Refuse,
    Value,
    counted,
    need_rank,
)

from ._arguments import ArrayCall, Call
from ._eliminating import EMITS, eliminated, square_matrices, turned, with_pivots
from ._error_counts import DECIDED, zero_pivots
from ._error_counts import EMITS as COUNTING
from ._family import Family, Function, ranked

_MOST_POWER = 64


def _aligned(build: Builder, a: Value, b: Value) -> tuple[Value, Value]:
    """Give two stacks of matrices the same sizes in front."""
    one, other = (a.shape or ())[:-2], (b.shape or ())[:-2]
    if one == other and None not in one:
        return a, b
    build.need_opset(9, ", which has Where")
    return _spread(build, a, b), _spread(build, b, a)


def _spread(build: Builder, x: Value, over: Value) -> Value:
    """Repeat matrices for the stacks of others; unlike Expand, Where says the rank at once."""
    rank = need_rank(over)
    corner = build.Slice(over, starts=[0, 0], ends=[1, 1], axes=[rank - 2, rank - 1])
    return build.Where(build.constant(np.array(True)), x, corner)


def _solved(build: Builder, a: Value, b: Value) -> Value:
    return _with_pivots(build, a, b, pivots=False)[0]


def _with_pivots(build: Builder, a: Value, b: Value, *, pivots: bool) -> tuple[Value, Value]:
    if a.elem_type != b.elem_type:
        raise Refuse(f"the types must be one; they are {a.type_name} and {b.type_name}")
    a, b = _aligned(build, a, b)
    found, heads = with_pivots(build, a, b, build.option("max_unrolled"), pivots=pivots)
    # Nothing says the rank of what a Loop gives; 0 copies a size.
    return (build.Reshape(found, [0] * (b.rank or 0)) if found.rank is None else found), heads


def _from_right(build: Builder, a: Value, b: Value) -> Value:
    """Solve X A = B, which is A' X' = B'."""
    return turned(build, _solved(build, turned(build, a), turned(build, b)))


def _counted(build: Builder, call: Call, a: Value, b: Value) -> tuple[Value, Value]:
    """Solve A X = B or X A = B, and count the errors, which are those of A.

    Raises:
        Refuse: A and B have not the same sizes in front, so that counts would be repeated.
    """
    if a.rank != b.rank or (a.rank != 2 and (a.shape or ())[:-2] != (b.shape or ())[:-2]):
        raise Refuse("there must be one right side for each matrix for the error counts")
    build.declare(APPROXIMATE, DECIDED)
    if call.number("left", 1):
        found, pivots = _with_pivots(build, a, b, pivots=True)
        return found, zero_pivots(build, pivots)
    # The pivots of the matrix, not of its transpose.
    pivots = with_pivots(build, a, None, build.option("max_unrolled"))[1]
    return _from_right(build, a, b), zero_pivots(build, pivots)


def _is_vector(a: Value, b: Value) -> bool:
    """Say whether B has a vector for each matrix, as PyTorch does."""
    if b.rank == 1:
        return True
    if b.rank != (a.rank or 0) - 1:
        return False
    one, other = (a.shape or ())[:-1], b.shape or ()
    if all(isinstance(x, int) and isinstance(y, int) for x, y in zip(one, other, strict=True)):
        return one == other
    if one == other and None not in one:
        return True
    raise Refuse(f"the sizes of {a.name} and {b.name} must tell whether it holds vectors")


def _solve(build: Builder, call: Call) -> Value | tuple[Value, Value]:
    a, rank = ranked(call, "A", 2)
    b, own = ranked(call, "B", 1)
    square_matrices(a)
    left, info = bool(call.number("left", 1)), call.node.output(1)
    several = info is not None and info.is_used
    if _is_vector(a, b):
        if not left:
            raise Refuse("vectors must be on the right; left is False")
        b = build.Unsqueeze(b, axes=[own])
        if several:
            found, counts = _counted(build, call, a, b)
            return build.Squeeze(found, axes=[rank - 1]), counts
        return build.Squeeze(_solved(build, a, b), axes=[rank - 1])
    if several:
        return _counted(build, call, a, b)
    if left:
        return _solved(build, a, b)
    return _from_right(build, a, b)


def _half(build: Builder, a: Value, *, upper: bool, unit: bool) -> Value:
    """Return the half of matrices that counts, with ones on the diagonal where they are meant."""
    size = square_matrices(a)
    build.need_opset(9, ", which has Where")
    if size is None:
        if build.opset < 11:
            raise Refuse(f"the size of {a.name} must be known below opset 11; it is open")
        across = counted(a, -1, build)
        down = build.Unsqueeze(counted(a, -2, build), axes=[1])
        nothing = build.constant(np.zeros((), a.dtype))
        outside = build.Less(across, down) if upper else build.Less(down, across)
        half = build.Where(outside, nothing, a)
        one = build.constant(np.ones((), a.dtype))
        return build.Where(build.Equal(across, down), one, half) if unit else half
    ones = np.ones((size, size), dtype=bool)
    kept = np.triu(ones, int(unit)) if upper else np.tril(ones, -int(unit))
    rest = np.eye(size, dtype=a.dtype) if unit else np.zeros((size, size), dtype=a.dtype)
    return build.Where(build.constant(kept), a, build.constant(rest))


def _triangular(build: Builder, call: Call) -> Value | tuple[Value, Value]:
    old = "transpose" in call.schema
    a, _ = ranked(call, "A" if old else "self", 2)
    b, _ = ranked(call, "self" if old else "B", 2)
    upper = bool(call.number("upper", 1))
    half = _half(build, a, upper=upper, unit=bool(call.number("unitriangular", 0)))
    if old:
        half = turned(build, half) if call.number("transpose", 0) else half
        return _solved(build, half, b), build.Identity(a)
    if call.number("left", 1):
        return _solved(build, half, b)
    return _from_right(build, half, b)


def _cholesky(build: Builder, call: Call) -> Value:
    factor, _ = ranked(call, "input2" if "input2" in call.schema else "self", 2)
    upper = bool(call.number("upper", 0))
    half = _half(build, factor, upper=upper, unit=False)
    other = turned(build, half)
    lower, higher = (other, half) if upper else (half, other)
    if "input2" in call.schema:
        return _solved(build, higher, _solved(build, lower, ranked(call, "self", 2)[0]))
    most = build.option("max_unrolled")
    inner = eliminated(build, lower, None, most)
    if inner.rank is None:
        inner = build.Reshape(inner, [0] * (lower.rank or 0))
    return _solved(build, higher, inner)


def _power(build: Builder, call: Call) -> Value:
    x, _ = ranked(call, call.schema[0], 2)
    size, power = square_matrices(x), int(call.number("n"))
    if power < 0:
        x, power = eliminated(build, x, None, build.option("max_unrolled")), -power
    if power > _MOST_POWER:
        raise Refuse(f"the power must be at most {_MOST_POWER}; it is {power}")
    if power == 0:
        if size is None or x.static_shape is None:
            raise Refuse("the shape must be known for a power of 0")
        eye = np.broadcast_to(np.eye(size, dtype=x.dtype), x.static_shape)
        return build.constant(np.ascontiguousarray(eye))
    total: Value | None = None
    while power:
        if power % 2:
            total = x if total is None else build.MatMul(total, x)
        power //= 2
        x = build.MatMul(x, x) if power else x
    assert total is not None
    return build.Identity(total)


def _wide(a: Array) -> Array:
    return a.astype(np.float64)


def _numpy_solve(a: Array, b: Array, *, left: bool = True) -> Array:
    if not left:
        return np.swapaxes(_numpy_solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)
    return np.linalg.solve(_wide(a), _wide(b)).astype(a.dtype)


def _solve_model(call: ArrayCall) -> Any:
    a, b, left = call.need("A"), call.need("B"), bool(call.number("left", 1))
    fine = np.zeros(a.shape[:-2], np.int32)
    if b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1]):
        return _numpy_solve(a, b[..., None])[..., 0], fine
    return _numpy_solve(a, b, left=left), fine


def _numpy_half(a: Array, *, upper: bool, unit: bool) -> Array:
    half = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
    return half + np.eye(a.shape[-1], dtype=a.dtype) if unit else half


def _triangular_model(call: ArrayCall) -> Any:
    old = "transpose" in call.schema
    a, b = call.need("A" if old else "self"), call.need("self" if old else "B")
    half = _numpy_half(
        a, upper=bool(call.number("upper", 1)), unit=bool(call.number("unitriangular", 0))
    )
    if old:
        half = np.swapaxes(half, -1, -2) if call.number("transpose", 0) else half
        return _numpy_solve(half, b), a
    return _numpy_solve(half, b, left=bool(call.number("left", 1)))


def _cholesky_model(call: ArrayCall) -> Any:
    factor = call.need("input2" if "input2" in call.schema else "self")
    upper = bool(call.number("upper", 0))
    half = _wide(_numpy_half(factor, upper=upper, unit=False))
    other = np.swapaxes(half, -1, -2)
    whole = other @ half if upper else half @ other
    if "input2" in call.schema:
        return np.linalg.solve(whole, _wide(call.need("self"))).astype(factor.dtype)
    return np.linalg.inv(whole).astype(factor.dtype)


def _power_model(call: ArrayCall) -> Any:
    x = call.need(call.schema[0])
    return np.linalg.matrix_power(_wide(x), int(call.number("n"))).astype(x.dtype)


_POWER = Function(("self", "n"), _power, _power_model)
FAMILY = Family(
    {
        "linalg_solve": Function(("A", "B", "left"), _solve, _solve_model),
        "linalg_solve_ex": Function(("A", "B", "left", "check_errors"), _solve, _solve_model),
        "linalg_solve_triangular": Function(
            ("self", "B", "upper", "left", "unitriangular"),
            _triangular,
            _triangular_model,
        ),
        "triangular_solve": Function(
            ("self", "A", "upper", "transpose", "unitriangular"),
            _triangular,
            _triangular_model,
        ),
        "cholesky_solve": Function(("self", "input2", "upper"), _cholesky, _cholesky_model),
        "cholesky_inverse": Function(("self", "upper"), _cholesky, _cholesky_model),
        "linalg_matrix_power": _POWER,
        "matrix_power": _POWER,
    }
)


aten_linalg_solve = FAMILY.replaced(
    __name__,
    emits=f"{EMITS} {COUNTING} Identity Less MatMul Squeeze Transpose Unsqueeze",
    options={
        "max_unrolled": Option(
            int, 8, "Largest matrix that is eliminated without a Loop, about 19 nodes a row."
        )
    },
)
