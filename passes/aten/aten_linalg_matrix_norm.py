"""Replace norms of matrices: by sums, and by iterations where they are of singular values.

What it does: The norms 1, -1, inf and -inf are the largest or least sum of a column or row, fro is
    the root of the sum of squares. nuc, the sum of the singular values, is the sum of the products
    with the orthogonal factor, which Newton and Schulz's iteration converges to. 2, the largest of
    them, is read from A' A squared again and again, which leaves the largest direction alone.
Why engines need it: ONNX has no singular values, PyTorch's exporter writes ATen nodes, and its
    newer one does not translate them either.
Before: y = org.pytorch.aten.ATen <operator = "linalg_matrix_norm"> (a, "nuc", [0, 1], False, None)
After:
    x = Div (a, ReduceL2 (a))
    g = MatMul (Transpose (x), x)                                    # 24 times
    x = MatMul (x, Add (Mul (eye, 1.875), MatMul (g, Sub (Mul (g, 0.375), Mul (eye, 1.25)))))
    y = ReduceSum (Mul (a, x))
When it refuses: The rank or dtype is unknown, the order is -2 (the least singular value, which no
    such iteration converges to evenly) or none of those above, an argument is computed at run time,
    the type is not float32 or float64, or the opset is below 11.
Accuracy: Exact up to rounding and the order of sums. Approximate for nuc and 2: within 1e-4 of the
    norm, of finite matrices; small singular values, which converge late, are as small a part of it.
References: pytorch/pytorch aten/src/ATen/native/LinearAlgebra.cpp (linalg_matrix_norm); N. Higham,
    Functions of Matrices (2008), 8.3 (Newton-Schulz iteration)
"""

from math import inf
from typing import Any

import numpy as np

from graphfix.authoring import APPROXIMATE, Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._eliminating import COMPUTED, turned, unit_matrix
from ._family import Family, Function, ranked
from ._reductions import over

_ROUNDS = 24
_SQUARINGS = 20
_TINY = 1e-30
_SUMMED = (1.0, -1.0, inf, -inf)


def _axes(call: Call | ArrayCall, rank: int) -> tuple[int, int]:
    given = call.entries("dim")
    axes = tuple(int(axis) % rank for axis in ((-2, -1) if given is None else given))
    if len(axes) != 2 or axes[0] == axes[1]:
        raise Refuse(f"dim must be two axes; it is {list(axes)}")
    return axes[0], axes[1]


def _order_of(call: Call) -> str | float:
    """Return the order: a text, or a number."""
    if call.overload == "str_ord":
        return call.text("ord", "fro")
    return float(call.number("ord"))


def _norm(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, "self", 2)
    if x.dtype not in COMPUTED or call.number("dtype") is not None:
        raise Refuse(f"{x.name} must be float32 or float64 and stay so; it is {x.type_name}")
    (down, across), order = _axes(call, rank), _order_of(call)
    keep = bool(call.number("keepdim", 0))
    if order == "fro":
        return over(build, "ReduceL2", x, (down, across), keep=keep)
    if order in _SUMMED:
        first, second = (down, across) if abs(float(order)) == 1 else (across, down)
        sums = over(build, "ReduceSum", build.Abs(x), (first,), keep=True)
        kind = "ReduceMax" if float(order) > 0 else "ReduceMin"
        found = over(build, kind, sums, (second,), keep=True)
    elif order in ("nuc", 2.0):
        build.declare(APPROXIMATE, "within 1e-4 of the norm, of finite matrices")
        after = [*(axis for axis in range(rank) if axis not in (down, across)), down, across]
        moved = x if after == list(range(rank)) else build.Transpose(x, perm=after)
        found = _nuclear(build, moved) if order == "nuc" else _spectral(build, moved)
        if after != list(range(rank)):
            back = [after.index(axis) for axis in range(rank)]
            found = build.Transpose(found, perm=back)
    else:
        raise Refuse(f"the order must be nuc, fro, 1, 2, inf or the least of sums; it is {order}")
    return found if keep else build.Squeeze(found, axes=sorted((down, across)))


def _matrix_sum(build: Builder, x: Value) -> Value:
    rank = x.rank or 0
    return over(build, "ReduceSum", x, (rank - 2, rank - 1), keep=True)


def _nuclear(build: Builder, x: Value) -> Value:
    """Return the sum of the singular values, [..., 1, 1]."""
    rank = x.rank or 0
    size = over(build, "ReduceL2", x, (rank - 2, rank - 1), keep=True)
    found = build.Div(x, build.Max(size, build.constant(np.array(_TINY, x.dtype))))
    eye = unit_matrix(build, x)
    one, other = build.Mul(eye, 1.875), build.Mul(eye, 1.25)
    for _ in range(_ROUNDS):
        square = build.MatMul(turned(build, found), found)
        inner = build.Sub(build.Mul(square, 0.375), other)
        found = build.MatMul(found, build.Add(one, build.MatMul(square, inner)))
    return _matrix_sum(build, build.Mul(x, found))


def _spectral(build: Builder, x: Value) -> Value:
    """Return the largest singular value, [..., 1, 1]."""
    rank = x.rank or 0
    tiny = build.constant(np.array(_TINY, x.dtype))

    def scaled(value: Value) -> tuple[Value, Value]:
        size = over(build, "ReduceMax", build.Abs(value), (rank - 2, rank - 1), keep=True)
        held = build.Max(size, tiny)
        return build.Div(value, held), held

    unit, size = scaled(x)
    square = build.MatMul(turned(build, unit), unit)
    found = square
    for _ in range(_SQUARINGS):
        found = scaled(found)[0]
        found = build.MatMul(found, found)
    found = scaled(found)[0]
    # The quotient of Rayleigh over all columns at once.
    whole = _matrix_sum(build, build.Mul(square, found))
    trace = _matrix_sum(build, build.Mul(found, unit_matrix(build, x)))
    return build.Mul(build.Sqrt(build.Div(whole, build.Max(trace, tiny))), size)


def _model(call: ArrayCall) -> Any:
    x: Array = call.need("self")
    axes = _axes(call, x.ndim)
    given = call.array("ord")
    order: Any = str(given) if given is not None and given.dtype.kind in "US" else given
    order = order if isinstance(order, str) or order is None else float(order)
    keep = bool(call.number("keepdim", 0))
    found: Any = np.linalg.norm(x.astype(np.float64), order, axes, keepdims=keep)
    return np.asarray(found, x.dtype)


_SCHEMA = ("self", "ord", "dim", "keepdim", "dtype")
FAMILY = Family({"linalg_matrix_norm": Function(_SCHEMA, _norm, _model)})


aten_linalg_matrix_norm = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add Cast Div Equal Gather MatMul Max Mul Range ReduceL2 ReduceMax ReduceMin ReduceSum "
        "Shape Sqrt Squeeze Sub Transpose Unsqueeze"
    ),
    opset=11,
)
