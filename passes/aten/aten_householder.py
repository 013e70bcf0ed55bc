"""Replace geqrf, linalg_householder_product and ormqr by the reflections themselves.

What it does: Reflects column by column and keeps the vectors below the diagonal for geqrf, as
    LAPACK does; linalg_householder_product and orgqr reflect the identity, ormqr another matrix,
    from either side. Matrices larger than the option `max_unrolled`, and those whose size is not
    known, are reflected in a Loop.
Why engines need it: ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer
    one does not translate them either.
Before: y = org.pytorch.aten.ATen <operator = "ormqr"> (a, tau, c, True, False)  # a: float[2, 1]
After:
    v = Where ([[False], [True]], a, [[1], [0]])
    y = Sub (c, Mul (tau, MatMul (v, MatMul (Transpose (v), c))))
When it refuses: The rank or dtype is unknown, sizes are 0, the opset is below 11 for a Loop, the
    type is not float32 or float64, or tensors differ in type or rank.
Accuracy: Exact up to rounding, with the signs of LAPACK. Squares are added up as they are, so that
    a column of float32 larger than 1e19 gives infinity.
References: pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (geqrf,
    linalg_householder_product, ormqr); LAPACK dgeqr2, dlarfg, dorg2r, dorm2r
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    Option,
    Refuse,
    Value,
    counted,
    need_rank,
)

from ._arguments import ArrayCall, Call
from ._eliminating import COMPUTED, cut, in_steps, row_numbers, size_value, turned
from ._family import Family, Function, like, ranked
from ._lu import matrices_of, sizes_of, steps_of
from ._lu_looped import lined


def _reflect(build: Builder, vector: Value, tau: Value, x: Value) -> Value:
    """Return x - tau v v' x."""
    share = build.MatMul(turned(build, vector), x)
    return build.Sub(x, build.MatMul(vector, build.Mul(tau, share)))


def _in_loop(build: Builder, x: Value) -> bool:
    """Say whether matrices are large or of open size, so that a Loop goes over their columns."""
    sizes = [x.dim(-2), x.dim(-1)]
    if x.rank is None or x.rank < 2 or 0 in sizes or x.dtype not in COMPUTED:
        return False
    if all(n is not None and n <= build.option("max_unrolled") for n in sizes):
        return False
    build.need_opset(11, " for a Loop")
    return True


def _step(
    build: Builder, column: Value, head: Value, below: Value, unit: Value
) -> tuple[Value, Value]:
    """Return the vector that reflects a column and its tau, [..., 1, 1].

    Args:
        build: The builder.
        column: [..., rows, 1].
        head: Its element on the diagonal.
        below: Which rows are below that.
        unit: 1 where it is, 0 elsewhere.
    """
    rank = need_rank(column)
    zero, one = (build.constant(np.array(n, column.dtype)) for n in (0, 1))
    tail = build.Where(below, column, zero)
    rest = build.ReduceSum(build.Mul(tail, tail), axes=[rank - 2], keepdims=1)
    # A column that is zero below its head is left as it is.
    some = build.Less(zero, rest)
    norm = build.Sqrt(build.Add(build.Mul(head, head), rest))
    beta = build.Where(build.Less(head, zero), norm, build.Neg(norm))
    tau = build.Div(build.Sub(beta, head), build.Where(some, beta, one))
    vector = build.Add(build.Div(tail, build.Where(some, build.Sub(head, beta), one)), unit)
    return vector, build.Where(some, tau, zero)


def _geqrf(build: Builder, call: Call) -> tuple[Value, Value]:
    if _in_loop(build, ranked(call, "self", 2)[0]):
        return _looped(build, call.need("self"))
    x, rank, rows, columns = matrices_of(build, call, "self")
    taus: list[Value] = []
    numbers, across = row_numbers(rank, 0, rows), np.arange(columns)
    for step in range(min(rows, columns)):
        below = build.constant(numbers > step)
        unit = build.constant((numbers == step).astype(x.dtype))
        column = cut(build, x, rank - 1, step, step + 1)
        head = cut(build, column, rank - 2, step, step + 1)
        vector, tau = _step(build, column, head, below, unit)
        taus.append(tau)
        ahead = build.constant(across >= step)
        x = build.Where(ahead, _reflect(build, vector, tau, x), x)
        own = build.constant((across == step) & (numbers > step))
        x = build.Where(own, vector, x)
    joined = taus[0] if len(taus) == 1 else build.Concat(*taus, axis=rank - 1)
    return x, build.Squeeze(joined, axes=[rank - 2])


def _looped(build: Builder, x: Value) -> tuple[Value, Value]:
    """Reflect column by column in a Loop."""
    rank = need_rank(x)
    rows = build.Unsqueeze(counted(x, rank - 2, build), axes=[1])
    across = counted(x, rank - 1, build)
    down, wide = (size_value(build, x, axis) for axis in (rank - 2, rank - 1))
    trips = build.Where(build.Less(down, wide), down, wide)

    def step(inner: Builder, *inputs: Value) -> Sequence[Value]:
        number, going, state = inputs
        column = inner.Unsqueeze(inner.Gather(state, number, axis=rank - 1), axes=[rank - 1])
        head = inner.Unsqueeze(inner.Gather(column, number, axis=rank - 2), axes=[rank - 2])
        below = inner.Less(number, rows)
        unit = inner.Cast(inner.Equal(rows, number), to=x.elem_type)
        vector, tau = _step(inner, column, head, below, unit)
        before = inner.Less(across, number)
        state = inner.Where(before, state, _reflect(inner, vector, tau, state))
        own = inner.And(inner.Equal(across, number), below)
        return inner.Identity(going), inner.Where(own, vector, state), tau

    found, taus = in_steps(build, trips, x, step, outputs=2)
    return build.Reshape(found, [0] * rank), lined(build, taus, rank)


def _each_in_loop(build: Builder, call: Call, state: Value, *, forward: bool) -> Value:
    """Reflect [..., rows, K] by all reflections in a Loop, the first or the last one first."""
    x, rank = ranked(call, call.schema[0], 2)
    taus, own = ranked(call, call.schema[1], 1)
    if taus.elem_type != x.elem_type or own != rank - 1:
        raise Refuse(f"{taus.name} must have the type of {x.name} and a vector for each matrix")
    rows = build.Unsqueeze(counted(x, rank - 2, build), axes=[1])
    trips = size_value(build, taus, own - 1)
    last = build.Sub(trips, np.array(1, np.int64))

    def step(inner: Builder, *inputs: Value) -> Sequence[Value]:
        number, going, found = inputs
        number = number if forward else inner.Sub(last, number)
        column = inner.Unsqueeze(inner.Gather(x, number, axis=rank - 1), axes=[rank - 1])
        unit = inner.Cast(inner.Equal(rows, number), to=x.elem_type)
        vector = inner.Where(inner.Less(number, rows), column, unit)
        tau = inner.Gather(taus, number, axis=rank - 2)
        tau = inner.Unsqueeze(tau, axes=[rank - 2, rank - 1])
        return inner.Identity(going), _reflect(inner, vector, tau, found)

    (found,) = in_steps(build, trips, state, step)
    return build.Reshape(found, [0] * rank)


def _reflections(build: Builder, call: Call) -> tuple[list[tuple[Value, Value]], int, int]:
    """Return (v, tau) of each reflection, how many rows v has, and its rank."""
    x, rank, rows, columns = matrices_of(build, call, call.schema[0])
    taus, own = ranked(call, call.schema[1], 1)
    count = taus.dim(-1)
    if taus.elem_type != x.elem_type or own != rank - 1 or not count or count > columns:
        raise Refuse(
            f"{taus.name} must have the type of {x.name} and 1 to {columns} numbers for each "
            f"matrix; it has {count}"
        )
    numbers = row_numbers(rank, 0, rows)
    found: list[tuple[Value, Value]] = []
    for step in range(count):
        column = cut(build, x, rank - 1, step, step + 1)
        unit = build.constant((numbers == step).astype(x.dtype))
        vector = build.Where(build.constant(numbers > step), column, unit)
        tau = build.Unsqueeze(cut(build, taus, rank - 2, step, step + 1), axes=[rank - 2])
        found.append((vector, tau))
    return found, rows, columns


def _product(build: Builder, call: Call) -> Value:
    given, _ = ranked(call, call.schema[0], 2)
    if _in_loop(build, given):
        down = build.Unsqueeze(counted(given, -2, build), axes=[1])
        eye = build.Cast(build.Equal(down, counted(given, -1, build)), to=given.elem_type)
        every = build.Where(build.constant(np.array(True)), eye, given)
        return _each_in_loop(build, call, every, forward=False)
    reflections, rows, columns = _reflections(build, call)
    x = call.need(call.schema[0])
    if rows < columns:
        raise Refuse(f"there must be as many rows as columns; they are {rows} and {columns}")
    rank = x.rank or 0
    found = build.constant(np.eye(rows, columns, dtype=x.dtype).reshape(
        (1,) * (rank - 2) + (rows, columns)
    ))  # fmt: skip
    for vector, tau in reversed(reflections):
        found = _reflect(build, vector, tau, found)
    return found


def _applied(build: Builder, call: Call) -> Value:
    x, (other, own) = call.need("self"), ranked(call, "input3", 2)
    if other.elem_type != x.elem_type or own != x.rank:
        raise Refuse(f"{other.name} must have the type and the rank of {x.name}")
    left, back = bool(call.number("left", 1)), bool(call.number("transpose", 0))
    # C Q is (Q' C')', and Q = H1 H2 ... Hk.
    other = other if left else turned(build, other)
    if _in_loop(build, x):
        other = _each_in_loop(build, call, other, forward=back is left)
    else:
        reflections, _, _ = _reflections(build, call)
        for vector, tau in reflections if back is left else reversed(reflections):
            other = _reflect(build, vector, tau, other)
    return other if left else turned(build, other)


def _geqrf_type(call: Call) -> Sequence[InferredType | None]:
    x, _ = ranked(call, "self", 2)
    front, rows, columns = sizes_of(x)
    count = steps_of(rows, columns)
    return InferredType(x.elem_type, x.shape), InferredType(x.elem_type, (*front, count))


def _packed(x: Array) -> tuple[Array, Array]:
    """Return what LAPACK's geqrf gives of one matrix, in float64."""
    work = x.astype(np.float64)
    count = min(x.shape)
    taus: Array = np.zeros(count)
    for k in range(count):
        head, tail = work[k, k], work[k + 1 :, k]
        if not tail.any():
            continue
        beta = -np.copysign(np.hypot(head, np.linalg.norm(tail)), head)
        taus[k] = (beta - head) / beta
        vector = np.concatenate([[1.0], tail / (head - beta)])
        work[k:, k:] -= taus[k] * np.outer(vector, vector @ work[k:, k:])
        work[k + 1 :, k] = vector[1:]
    return work, taus


def _each(x: Array) -> list[tuple[int, ...]]:
    return list(np.ndindex(*x.shape[:-2]))


def _geqrf_model(call: ArrayCall) -> Any:
    x = call.need("self")
    found, taus = x.copy(), np.zeros((*x.shape[:-2], min(x.shape[-2:])), x.dtype)
    for at in _each(x):
        found[at], taus[at] = _packed(x[at])
    return found, taus


def _orthogonal(x: Array, taus: Array) -> Array:
    """Return Q = H1 ... Hk, all rows and columns."""
    rows = x.shape[0]
    whole: Array = np.eye(rows)
    for step, tau in enumerate(taus.tolist()):
        vector = np.concatenate([np.zeros(step), [1.0], x[step + 1 :, step]]).astype(np.float64)
        whole = whole @ (np.eye(rows) - tau * np.outer(vector, vector))
    return whole


def _product_model(call: ArrayCall) -> Any:
    x, taus = call.need(call.schema[0]), call.need("tau")
    found = np.empty_like(x)
    for at in _each(x):
        found[at] = _orthogonal(x[at], taus[at])[:, : x.shape[-1]]
    return found


def _applied_model(call: ArrayCall) -> Any:
    x, taus, other = call.need("self"), call.need("input2"), call.need("input3")
    left, turned = bool(call.number("left", 1)), bool(call.number("transpose", 0))
    found = np.empty_like(other)
    for at in _each(x):
        whole = _orthogonal(x[at], taus[at])
        whole = whole.T if turned else whole
        wide = other[at].astype(np.float64)
        found[at] = whole @ wide if left else wide @ whole
    return found


_PRODUCT = ("input", "tau")
FAMILY = Family(
    {
        "geqrf": Function(("self",), _geqrf, _geqrf_model, infer=_geqrf_type),
        "linalg_householder_product": Function(
            _PRODUCT, _product, _product_model, infer=like("input")
        ),
        "orgqr": Function(("self", "tau"), _product, _product_model, infer=like()),
        "ormqr": Function(
            ("self", "input2", "input3", "left", "transpose"),
            _applied,
            _applied_model,
            infer=like("input3"),
        ),
    }
)


aten_householder = FAMILY.replaced(
    __name__,
    emits=(
        "Add And Cast Concat Div Equal Gather Identity Less Loop MatMul Mul Neg Range ReduceSum "
        "Reshape Shape Slice Sqrt Squeeze Sub Transpose Unsqueeze Where"
    ),
    options={"max_unrolled": Option(int, 8, "Largest matrix that is reflected without a Loop.")},
)
