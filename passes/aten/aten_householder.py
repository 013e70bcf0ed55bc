"""Replace geqrf, linalg_householder_product and ormqr by the reflections themselves.

What it does:
    Reflects column by column and keeps the vectors below the diagonal for geqrf, as LAPACK does;
    linalg_householder_product and orgqr reflect the identity, ormqr another matrix, from either
    side. Matrices up to the option `max_unrolled`.

Why engines need it:
    ONNX has no linear algebra, PyTorch's exporter writes ATen nodes, and its newer one does not
    translate them either.

Before:
    y = org.pytorch.aten.ATen <operator = "ormqr"> (a, tau, c, True, False)  # a: float[2, 1]

After:
    v = Where ([[False], [True]], a, [[1], [0]])
    y = Sub (c, Mul (tau, MatMul (v, MatMul (Transpose (v), c))))

When it refuses:
    The rank or dtype is unknown, the sizes are open, zero, or larger than the option allows, the
    type is not float32 or float64, or tensors differ in type or rank.

Accuracy:
    Exact up to rounding, with the signs of LAPACK. Squares are added up as they are, so that a
    column of float32 larger than 1e19 gives infinity.

References:
    pytorch/pytorch aten/src/ATen/native/BatchLinearAlgebra.cpp (geqrf, linalg_householder_product,
    ormqr); LAPACK dgeqr2, dlarfg, dorg2r, dorm2r
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
from graphfix.passes.aten._family import Family, Function, like, ranked
from graphfix.passes.aten._lu import matrices_of, sizes_of, steps_of
from graphfix.passes.aten._pivoting import cut, row_numbers


def _turned(build: Builder, x: Value) -> Value:
    assert x.rank is not None
    return build.Transpose(x, perm=[*range(x.rank - 2), x.rank - 1, x.rank - 2])


def _reflect(build: Builder, vector: Value, tau: Value, x: Value) -> Value:
    """Return x - tau v v' x."""
    share = build.MatMul(_turned(build, vector), x)
    return build.Sub(x, build.MatMul(vector, build.Mul(tau, share)))


def _geqrf(build: Builder, call: Call) -> tuple[Value, Value]:
    x, rank, rows, columns = matrices_of(build, call, "self")
    zero, one = (build.constant(np.array(n, x.dtype)) for n in (0, 1))
    taus: list[Value] = []
    numbers, across = row_numbers(rank, 0, rows), np.arange(columns)
    for step in range(min(rows, columns)):
        below = build.constant(numbers > step)
        unit = build.constant((numbers == step).astype(x.dtype))
        column = cut(build, x, rank - 1, step, step + 1)
        head = cut(build, column, rank - 2, step, step + 1)
        tail = build.Where(below, column, zero)
        rest = build.ReduceSum(build.Mul(tail, tail), axes=[rank - 2], keepdims=1)
        # A column that is zero below its head is left as it is.
        some = build.Less(zero, rest)
        norm = build.Sqrt(build.Add(build.Mul(head, head), rest))
        beta = build.Where(build.Less(head, zero), norm, build.Neg(norm))
        tau = build.Div(build.Sub(beta, head), build.Where(some, beta, one))
        tau = build.Where(some, tau, zero)
        taus.append(tau)
        vector = build.Add(build.Div(tail, build.Where(some, build.Sub(head, beta), one)), unit)
        ahead = build.constant(across >= step)
        x = build.Where(ahead, _reflect(build, vector, tau, x), x)
        own = build.constant((across == step) & (numbers > step))
        x = build.Where(own, vector, x)
    joined = taus[0] if len(taus) == 1 else build.Concat(*taus, axis=rank - 1)
    return x, build.Squeeze(joined, axes=[rank - 2])


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
    reflections, _, _ = _reflections(build, call)
    x, (other, own) = call.need("self"), ranked(call, "input3", 2)
    if other.elem_type != x.elem_type or own != x.rank:
        raise Refuse(f"{other.name} must have the type and the rank of {x.name}")
    left, turned = bool(call.number("left", 1)), bool(call.number("transpose", 0))
    # C Q is (Q' C')', and Q = H1 H2 ... Hk.
    other = other if left else _turned(build, other)
    for vector, tau in reflections if turned is left else reversed(reflections):
        other = _reflect(build, vector, tau, other)
    return other if left else _turned(build, other)


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
    found = np.empty_like(other)
    for at in _each(x):
        whole = _orthogonal(x[at], taus[at])
        whole = whole.T if call.number("transpose", 0) else whole
        wide = other[at].astype(np.float64)
        found[at] = whole @ wide if call.number("left", 1) else wide @ whole
    return found


_PRODUCT = ("input", "tau")
FAMILY = Family(
    {
        "geqrf": Function(("self",), _geqrf, _geqrf_model, _geqrf_type),
        "linalg_householder_product": Function(_PRODUCT, _product, _product_model, like("input")),
        "orgqr": Function(("self", "tau"), _product, _product_model, like()),
        "ormqr": Function(
            ("self", "input2", "input3", "left", "transpose"),
            _applied,
            _applied_model,
            like("input3"),
        ),
    }
)


@rewrite(
    matching(FAMILY.names),
    removes=features(FAMILY.names),
    emits=(
        "Add Concat Div Less MatMul Mul Neg ReduceSum Slice Sqrt Squeeze Sub Transpose Unsqueeze "
        "Where"
    ),
    options={"max_unrolled": Option(int, 8, "Largest number of rows or columns.")},
    infer=FAMILY.infer,
    evaluate=FAMILY.evaluate,
)
def aten_householder(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Reflect column by column, see the module."""
    return FAMILY.write(node, build)
