"""Replace LU decompositions, and systems that are solved with them, by their steps.

What it does:
    Takes the row with the largest entry as pivot, divides, and keeps the multipliers, for
    linalg_lu_factor, linalg_lu_factor_ex and _lu_with_info; linalg_lu takes the factors apart.
    lu_solve and linalg_lu_solve exchange the rows and substitute. Matrices larger than the option
    `max_unrolled`, and those whose size is not known, are factorised in a Loop.
Why engines need it: ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer
    one does not translate them either.
Before: p, l, u = org.pytorch.aten.ATen <operator = "linalg_lu"> (a, True)     # a: float[2, 2]
After:
    place = ArgMax (Abs (a[:, 0]))                       # and so on, as aten-linalg-det
    u = Where ([[True, True], [False, True]], lu, 0)
    l = Where ([[False, False], [True, False]], lu, [[1, 0], [0, 1]])
    p = Cast (Equal ([[0], [1]], rows))                  # rows: after the exchanges
When it refuses: The rank or dtype is unknown, sizes are 0, systems have sizes that are open or
    larger than the option allows, the opset is below 11 for a Loop, the type is not float32 or
    float64, rows must not be exchanged (pivot is False, which PyTorch does not compute on a CPU
    either), or pivots are not int32.
Accuracy: Exact up to rounding, with the pivots of LAPACK. A pivot of 0 is left, with the zeros
    below. Approximate where the error counts are used: rounding decides whether the pivot of a
    matrix that is nearly singular is 0. Pivots out of range give a matrix where PyTorch gives an
    error.
References: pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_lu_factor_ex,
    linalg_lu, linalg_lu_solve); LAPACK dgetrf, dgetrs; Golub and Van Loan, Matrix Computations, 3.4
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    FAR,
    Array,
    Builder,
    InferredType,
    Option,
    Refuse,
    Value,
    counted,
)

from ._arguments import ArrayCall, Call
from ._eliminating import COMPUTED, square_matrices, substitution, turned
from ._error_counts import DECIDED, zero_pivots
from ._error_counts import EMITS as COUNTING
from ._family import Family, Function, ranked
from ._lu import (
    EMITS,
    factorised,
    halves,
    matrices_of,
    permutation,
    row_order,
    sizes_of,
    steps_of,
    substituted,
)
from ._lu_looped import EMITS as LOOPING
from ._lu_looped import looped


def _factorised(build: Builder, call: Call) -> tuple[Value, Value, Value, Value | None]:
    """Return the factors, exchanges and pivots; and where rows came from, of a Loop alone."""
    x, _ = ranked(call, call.schema[0], 2)
    if not call.number("pivot", 1):
        raise Refuse("rows must be exchanged; pivot is False")
    rows, columns, most = x.dim(-2), x.dim(-1), build.option("max_unrolled")
    small = rows is not None and columns is not None and max(rows, columns) <= most
    if small or x.dtype not in COMPUTED or 0 in (rows, columns):
        x, _, down, across = matrices_of(build, call, call.schema[0])
        return *factorised(build, x, down, across), None
    build.need_opset(11, " for a Loop over rows")
    return looped(build, x)


def _open_permutation(build: Builder, order: Value, x: Value) -> Value:
    """Return the matrices P that take rows back to where they came from."""
    down = build.Unsqueeze(counted(x, -2, build), axes=[1])
    at = build.Equal(down, build.Unsqueeze(order, axes=[(order.rank or 1) - 1]))
    return build.Cast(at, to=x.elem_type)


def _open_halves(build: Builder, lu: Value, places: Value) -> tuple[Value, Value]:
    """Return L and U, of as many columns and rows as there were steps."""
    rank = lu.rank or 0
    down = build.Unsqueeze(counted(lu, rank - 2, build), axes=[1])
    across = counted(lu, rank - 1, build)
    steps = build.Slice(build.Shape(places), starts=[-1], ends=[FAR], axes=[0])
    zero, one = (build.constant(np.array(n, lu.dtype)) for n in (0, 1))
    unit = build.Where(build.Equal(down, across), one, zero)
    lower = build.Where(build.Less(across, down), lu, unit)
    upper = build.Where(build.Less(across, down), zero, lu)
    return (
        build.Slice(lower, starts=[0], ends=steps, axes=[rank - 1]),
        build.Slice(upper, starts=[0], ends=steps, axes=[rank - 2]),
    )


def _factor(build: Builder, call: Call) -> tuple[Value, ...]:
    lu, places, heads, _ = _factorised(build, call)
    pivots = build.Cast(places, to=TensorProto.INT32)
    info = call.node.output(2)
    if info is None or not info.is_used:
        return lu, pivots
    build.declare(APPROXIMATE, DECIDED)
    return lu, pivots, zero_pivots(build, heads)


def _apart(build: Builder, call: Call) -> tuple[Value, ...]:
    x = call.need("A")
    lu, places, _, order = _factorised(build, call)
    rows, columns = x.dim(-2), x.dim(-1)
    if order is None and rows and columns:
        order = row_order(build, places, rows, min(rows, columns))
        return permutation(build, order, rows, x.elem_type), *halves(build, lu, rows, columns)
    assert order is not None  # the Loop gives it
    return _open_permutation(build, order, x), *_open_halves(build, lu, places)


def _solve(build: Builder, call: Call) -> Value:
    named = "LU" in call.schema
    lu, rank, size, _ = matrices_of(build, call, "LU" if named else "LU_data")
    square_matrices(lu)
    pivots, own = ranked(call, "pivots" if named else "LU_pivots", 1)
    b, other = ranked(call, "B" if named else "self", 2)
    if pivots.type_name != "int32" or own != rank - 1 or pivots.dim(-1) not in (None, size):
        raise Refuse(f"{pivots.name} must be int32, {size} of them for each matrix")
    if b.elem_type != lu.elem_type or other != rank:
        raise Refuse(f"{b.name} must have the type and the rank of {lu.name}")
    left = not named or bool(call.number("left", 1))
    adjoint = named and bool(call.number("adjoint", 0))
    # X A = B is A' X' = B'.
    b = b if left else turned(build, b)
    order = permutation(build, row_order(build, pivots, size, size), size, lu.elem_type)
    if adjoint is left:
        across = turned(build, lu)
        inner = substituted(build, across, b, size, lower=True)
        found = build.MatMul(order, substituted(build, across, inner, size, lower=False, unit=True))
    else:
        b = build.MatMul(turned(build, order), b)
        inner = substituted(build, lu, b, size, lower=True, unit=True)
        found = substituted(build, lu, inner, size, lower=False)
    return found if left else turned(build, found)


def _factor_type(call: Call) -> Sequence[InferredType | None]:
    x, _ = ranked(call, call.schema[0], 2)
    front, rows, columns = sizes_of(x)
    count = steps_of(rows, columns)
    return (
        InferredType(x.elem_type, x.shape),
        InferredType(TensorProto.INT32, (*front, count)),
        InferredType(TensorProto.INT32, front),
    )


def _apart_type(call: Call) -> Sequence[InferredType | None]:
    x, _ = ranked(call, "A", 2)
    front, rows, columns = sizes_of(x)
    count = steps_of(rows, columns)
    shapes = ((*front, rows, rows), (*front, rows, count), (*front, count, columns))
    return [InferredType(x.elem_type, shape) for shape in shapes]


def _packed(x: Array) -> tuple[Array, Array, Array]:
    """Return what LAPACK's getrf gives of a stack: the factors, the pivots, the first that is 0."""
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    work: Array = x.reshape(-1, rows, columns).copy()
    pivots: Array = np.zeros((len(work), count), np.int32)
    info: Array = np.zeros(len(work), np.int32)
    each = np.arange(len(work))
    for k in range(count):
        place = k + np.abs(work[:, k:, k]).argmax(axis=1)
        pivots[:, k] = place + 1
        work[each, k], work[each, place] = work[each, place], work[each, k].copy()
        head = work[:, k, k]
        info[(head == 0) & (info == 0)] = k + 1
        work[:, k + 1 :, k] /= np.where(head == 0, 1, head)[:, None]
        work[:, k + 1 :, k + 1 :] -= work[:, k + 1 :, k : k + 1] * work[:, k : k + 1, k + 1 :]
    front = x.shape[:-2]
    return work.reshape(x.shape), pivots.reshape(*front, count), info.reshape(front)


def _permuted(pivots: Array, rows: int) -> Array:
    """Return the matrices P of pivots, of float64.

    Raises:
        Refuse: They are no rows, for which PyTorch gives an error.
    """
    if ((pivots < 1) | (pivots > rows)).any():
        raise Refuse("the pivots must be rows; they are not")
    order: Array = np.zeros((*pivots.shape[:-1], rows, rows))
    for at in np.ndindex(*pivots.shape[:-1]):
        state = list(range(rows))
        for step, pivot in enumerate(pivots[at].tolist()):
            state[step], state[pivot - 1] = state[pivot - 1], state[step]
        order[at][state, list(range(rows))] = 1
    return order


def _factors(lu: Array) -> tuple[Array, Array]:
    rows, columns = lu.shape[-2:]
    count = min(rows, columns)
    lower = np.tril(lu[..., :count], -1) + np.eye(rows, count, dtype=lu.dtype)
    return lower, np.triu(lu[..., :count, :])


def _apart_model(call: ArrayCall) -> Any:
    x = call.need("A")
    lu, pivots, _ = _packed(x)
    return _permuted(pivots, x.shape[-2]).astype(x.dtype), *_factors(lu)


def _solve_model(call: ArrayCall) -> Any:
    named = "LU" in call.schema
    lu, pivots = call.need("LU" if named else "LU_data"), call.need(call.schema[1 if named else 2])
    b = call.need("B" if named else "self")
    left = not named or bool(call.number("left", 1))
    adjoint = named and bool(call.number("adjoint", 0))
    b = b if left else b.swapaxes(-1, -2)
    # In the type of the matrices, so that the rounding that PyTorch has is not hidden.
    order = _permuted(pivots, lu.shape[-1]).astype(b.dtype)
    if adjoint is left:
        across = lu.swapaxes(-1, -2)
        inner = substitution(across, b, lower=True)
        found = order @ substitution(across, inner, unit=True)
    else:
        inner = substitution(lu, order.swapaxes(-1, -2) @ b, lower=True, unit=True)
        found = substitution(lu, inner)
    return found if left else found.swapaxes(-1, -2)


def _factoring(*schema: str) -> Function:
    model: Callable[[ArrayCall], Any] = lambda call: _packed(call.need(call.schema[0]))  # noqa: E731
    return Function(schema, _factor, model, infer=_factor_type)


FAMILY = Family(
    {
        "linalg_lu_factor": _factoring("A", "pivot"),
        "linalg_lu_factor_ex": _factoring("A", "pivot", "check_errors"),
        "_lu_with_info": _factoring("self", "pivot", "check_errors"),
        "linalg_lu": Function(("A", "pivot"), _apart, _apart_model, infer=_apart_type),
        "lu_solve": Function(("self", "LU_data", "LU_pivots"), _solve, _solve_model),
        "linalg_lu_solve": Function(("LU", "pivots", "B", "left", "adjoint"), _solve, _solve_model),
    }
)


aten_linalg_lu = FAMILY.replaced(
    __name__,
    emits=f"{EMITS} {COUNTING} {LOOPING} MatMul Transpose Unsqueeze",
    options={"max_unrolled": Option(int, 8, "Largest matrix that is taken apart without a Loop.")},
)
