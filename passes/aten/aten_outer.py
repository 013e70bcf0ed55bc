"""Replace products that ONNX has under other names: outer, cross, cdist, addmm, and the like.

What it does: Writes outer, ger, dot, vdot, mv, mm, bmm, inner, cross, linalg_cross, linalg_vecdot,
    kron, addmm, addmv, addbmm, baddbmm, addr and cdist with Mul, MatMul, Gather and sums.
Why engines need it: Exporters that fall back to ATen write cross, kron and cdist as nodes that no
    engine knows, and, where they are told to, the others as well.
Before:
    y = org.pytorch.aten.ATen <operator = "outer"> (a, b)               # a: float[2], b: float[3]
After: y = Mul (Unsqueeze <axes = [1]> (a), Unsqueeze <axes = [0]> (b))
When it refuses: A rank or type is unknown, the operands have different types, an axis or a factor
    is computed at run time, sums of integers are wanted that no MatMul gives (engines round them),
    the crossed axis is not of size 3, or cdist would form more than 2^28 differences.
Accuracy: Exact up to the order of sums. cdist forms the differences themselves, which loses no
    digits, where PyTorch may multiply matrices; float16 is not taken.
References: pytorch/pytorch aten/src/ATen/native/LinearAlgebra.cpp (outer, addmm, kron), Cross.cpp,
    Distance.cpp (cdist)
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, axis_in, ranked

_MOST = 1 << 28
_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)
# MatMul of integers wraps around, as PyTorch's does; ReduceSum goes through float64.
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_SUMMING = frozenset({"addbmm", "cdist", "linalg_vecdot"})


def _pair(call: Call, *, floats: bool) -> tuple[Value, Value]:
    """Return the two operands of a product.

    Raises:
        Refuse: Their types differ or are unknown, or are not what is asked for.
    """
    names = [name for name in call.schema if name in _OPERANDS]
    (a, _), (b, _) = (ranked(call, name) for name in names[-2:])
    if a.elem_type != b.elem_type:
        raise Refuse(f"the types must be one; they are {a.type_name} and {b.type_name}")
    taken = _FLOATS if call.operator in _SUMMING else (*_FLOATS, *_INTEGERS)
    if floats and a.elem_type not in taken:
        raise Refuse(f"{a.name} must be of a type that sums are exact in; it is {a.type_name}")
    return a, b


_OPERANDS = frozenset(
    {"self", "other", "vec", "vec1", "vec2", "mat", "mat1", "mat2", "tensor", "x", "y", "x1", "x2"}
    | {"batch1", "batch2"}
)


def _ranks(call: Call, a: Value, b: Value, *wanted: int) -> None:
    if (a.rank, b.rank) != wanted:
        raise Refuse(
            f"the ranks for {call.operator} must be {wanted[0]} and {wanted[1]}; they are "
            f"{a.rank} and {b.rank}"
        )


def _outer(build: Builder, call: Call) -> Value:
    a, b = _pair(call, floats=False)
    _ranks(call, a, b, 1, 1)
    return _times(build, build.Unsqueeze(a, axes=[1]), build.Unsqueeze(b, axes=[0]))


def _times(build: Builder, a: Value, b: Value) -> Value:
    if a.elem_type == TensorProto.BOOL:
        return build.And(a, b)
    return build.Mul(a, b)


def _product(*wanted: int) -> Any:
    def write(build: Builder, call: Call) -> Value:
        a, b = _pair(call, floats=True)
        _ranks(call, a, b, *wanted)
        return build.MatMul(a, b)

    return write


def _inner(build: Builder, call: Call) -> Value:
    a, b = _pair(call, floats=True)
    if not a.rank or not b.rank:
        return build.Mul(a, b)
    if b.rank > 2:
        raise Refuse(f"the rank of {b.name} must be at most 2; it is {b.rank}")
    return build.MatMul(a, build.Transpose(b, perm=[1, 0]) if b.rank == 2 else b)


def _cross_axis(call: Call) -> tuple[Value, Value, int]:
    a, b = _pair(call, floats=False)
    if a.rank != b.rank or not a.rank:
        raise Refuse(f"the ranks must be equal and not 0; they are {a.rank} and {b.rank}")
    given = call.number("dim", -1 if call.operator == "linalg_cross" else None)
    if given is not None:
        axis = axis_in(call, "dim", a.rank, -1)
    else:
        axis = next((at for at, size in enumerate(a.shape or ()) if size == 3), -1)
        known = (a.shape or ())[: max(axis, 0)]
        if axis < 0 or not all(isinstance(size, int) for size in known):
            raise Refuse(f"the first axis of {a.name} of size 3 must be known")
    if {a.dim(axis), b.dim(axis)} - {3, None}:  # an open one is 3, or PyTorch raises an error
        raise Refuse(f"the size of axis {axis} must be 3; it is {a.dim(axis)} and {b.dim(axis)}")
    return a, b, axis


def _cross(build: Builder, call: Call) -> Value:
    a, b, axis = _cross_axis(call)
    next_, last = np.array([1, 2, 0]), np.array([2, 0, 1])
    first = build.Mul(build.Gather(a, next_, axis=axis), build.Gather(b, last, axis=axis))
    second = build.Mul(build.Gather(a, last, axis=axis), build.Gather(b, next_, axis=axis))
    return build.Sub(first, second)


def _vecdot(build: Builder, call: Call) -> Value:
    a, b = _pair(call, floats=True)
    if a.rank != b.rank or not a.rank:
        raise Refuse(f"the ranks must be equal and not 0; they are {a.rank} and {b.rank}")
    axis = axis_in(call, "dim", a.rank, -1)
    return build.ReduceSum(build.Mul(a, b), axes=[axis], keepdims=0)


def _kron(build: Builder, call: Call) -> Value:
    a, b = _pair(call, floats=False)
    one, other = a.static_shape, b.static_shape
    if one is None or other is None:
        raise Refuse(f"the shapes of {a.name} and {b.name} must be known")
    rank = max(len(one), len(other))
    one, other = (1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other
    left = build.Reshape(a, [size for n in one for size in (n, 1)])
    right = build.Reshape(b, [size for n in other for size in (1, n)])
    return build.Reshape(
        _times(build, left, right), [n * m for n, m in zip(one, other, strict=True)]
    )


def _added(build: Builder, call: Call) -> Value:
    """Return beta * self + alpha * product; self is not read where beta is 0."""
    a, b = _pair(call, floats=True)
    x, _ = ranked(call)
    if x.elem_type != a.elem_type:
        raise Refuse(f"the types must be one; they are {x.type_name} and {a.type_name}")
    if call.operator == "addr":
        found = build.Mul(build.Unsqueeze(a, axes=[1]), build.Unsqueeze(b, axes=[0]))
    else:
        found = build.MatMul(a, b)
    if call.operator == "addbmm":
        found = build.ReduceSum(found, axes=[0], keepdims=0)
    alpha, beta = float(call.number("alpha", 1)), float(call.number("beta", 1))
    found = build.Mul(found, alpha) if alpha != 1 else found
    if beta == 0:
        return build.Identity(found)
    return build.Add(build.Mul(x, beta) if beta != 1 else x, found)


def _cdist(build: Builder, call: Call) -> Value:
    a, b = _pair(call, floats=True)
    if (a.rank or 0) < 2 or (b.rank or 0) < 2:
        raise Refuse(f"the ranks must be at least 2; they are {a.rank} and {b.rank}")
    shape = (*(a.shape or ()), b.dim(-2))
    if prod(s if isinstance(s, int) else 1 for s in shape) > _MOST:
        raise Refuse(f"at most {_MOST} differences must be formed; there would be more")
    power = float(call.number("p", 2))
    lone = build.Unsqueeze(a, axes=[(a.rank or 0) - 1])
    away = build.Sub(lone, build.Unsqueeze(b, axes=[(b.rank or 0) - 2]))
    axis = [max(a.rank or 0, b.rank or 0)]
    if power == 2:
        return build.Sqrt(build.ReduceSum(build.Mul(away, away), axes=axis, keepdims=0))
    size = build.Abs(away)
    if power == 1:
        return build.ReduceSum(size, axes=axis, keepdims=0)
    if np.isinf(power):
        return build.ReduceMax(size, axes=axis, keepdims=0)
    if power == 0:
        other = build.Cast(
            build.Not(build.Equal(build.constant(np.zeros((), a.dtype)), size)), to=a.elem_type
        )
        return build.ReduceSum(other, axes=axis, keepdims=0)
    total = build.ReduceSum(build.Pow(size, power), axes=axis, keepdims=0)
    return build.Pow(total, 1 / power)


def _both(call: ArrayCall) -> tuple[Array, Array]:
    names = [name for name in call.schema if name in _OPERANDS][-2:]
    return call.need(names[0]), call.need(names[1])


def _modelled(model: Callable[[Array, Array], Any]) -> Callable[[ArrayCall], Any]:
    def compute(call: ArrayCall) -> Any:
        a, b = _both(call)
        wide = a.dtype.kind == "f"
        result = model(*((v.astype(np.float64) for v in (a, b)) if wide else (a, b)))
        return np.asarray(result).astype(a.dtype)

    return compute


def _cross_model(call: ArrayCall) -> Any:
    a, b = _both(call)
    given = call.number("dim")
    axis = a.shape.index(3) if given is None else int(given)
    return np.cross(a, b, axis=axis).astype(a.dtype)


def _vecdot_model(call: ArrayCall) -> Any:
    x, y = _both(call)
    return (x * y).sum(int(call.number("dim", -1)))


def _added_model(call: ArrayCall) -> Any:
    a, b = _both(call)
    if a.dtype.kind == "f":
        a, b = a.astype(np.float64), b.astype(np.float64)
    found: Array = np.outer(a, b) if "vec1" in call.schema else a @ b
    if "batch1" in call.schema and call.need("self").ndim < found.ndim:
        found = found.sum(0)
    x, beta, alpha = call.need("self"), call.number("beta", 1), call.number("alpha", 1)
    scaled = found * np.asarray(alpha).astype(found.dtype)
    return (scaled + x * np.asarray(beta).astype(x.dtype) if beta else scaled).astype(x.dtype)


def _cdist_model(call: ArrayCall) -> Any:
    a, b = _both(call)
    away = np.abs(a[..., :, None, :].astype(np.float64) - b[..., None, :, :])
    power = float(call.number("p", 2))
    if np.isinf(power):
        return away.max(-1, initial=0.0).astype(a.dtype)
    if power == 0:
        return (away != 0).sum(-1).astype(a.dtype)
    return ((away**power).sum(-1) ** (1 / power)).astype(a.dtype)


def _simple(schema: tuple[str, ...], *wanted: int) -> Function:
    return Function(schema, _product(*wanted), _modelled(np.matmul))


_OUTER = Function(("self", "vec2"), _outer, _modelled(np.outer))
FAMILY = Family(
    {
        "outer": _OUTER,
        "ger": _OUTER,
        "mm": _simple(("self", "mat2"), 2, 2),
        "bmm": _simple(("self", "mat2"), 3, 3),
        "mv": _simple(("self", "vec"), 2, 1),
        "dot": _simple(("self", "tensor"), 1, 1),
        "vdot": _simple(("self", "other"), 1, 1),
        "inner": Function(("self", "other"), _inner, _modelled(np.inner)),
        "kron": Function(("self", "other"), _kron, _modelled(np.kron)),
        "cross": Function(("self", "other", "dim"), _cross, _cross_model),
        "linalg_cross": Function(
            ("self", "other", "dim"),
            _cross,
            lambda c: np.cross(*_both(c), axis=int(c.number("dim", -1))).astype(
                c.need("self").dtype
            ),
        ),
        "linalg_vecdot": Function(("x", "y", "dim"), _vecdot, _vecdot_model),
        "addmm": Function(("self", "mat1", "mat2", "beta", "alpha"), _added, _added_model),
        "addmv": Function(("self", "mat", "vec", "beta", "alpha"), _added, _added_model),
        "baddbmm": Function(("self", "batch1", "batch2", "beta", "alpha"), _added, _added_model),
        "addbmm": Function(
            ("self", "batch1", "batch2", "beta", "alpha"),
            _added,
            _added_model,
        ),
        "addr": Function(
            ("self", "vec1", "vec2", "beta", "alpha"),
            _added,
            _added_model,
        ),
        "cdist": Function(("x1", "x2", "p", "compute_mode"), _cdist, _cdist_model),
    }
)


aten_outer = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add And Cast Equal Gather Identity MatMul Mul Not Pow ReduceMax ReduceSum Reshape "
        "Sqrt Sub Transpose Unsqueeze"
    ),
)
