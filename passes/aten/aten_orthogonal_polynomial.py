"""Replace Chebyshev, Hermite, Laguerre and Legendre polynomials by their recurrence.

What it does: Computes degree after degree from the two before, in a Loop up to the largest degree
    that is asked for, or in a row where the degrees are constants of at most 32, and keeps of each
    element the one that it asks for.
Why engines need it: The exporters of PyTorch translate none of the twelve, and have written ATen
    nodes.
Before: y = org.pytorch.aten.ATen <operator = "special_legendre_polynomial_p"> (x, 2)
After: y = Div (Sub (Mul (Mul (3, x), x), 1), 2)
When it refuses: A type is unknown, float64 or bfloat16, a rank is unknown, the opset is below 12,
    or a degree of hermite_polynomial_h is a constant beyond 128, from which on PyTorch gives NaN.
Accuracy: Approximate: PyTorch takes cosines for Chebyshev polynomials of degrees above 6 between -1
    and 1; the recurrence is off by at most 1e-7 times the square of the degree there. What computed
    degrees beyond 128 make of hermite_polynomial_h is not looked at.
References: pytorch/pytorch aten/src/ATen/native/Math.h (chebyshev_polynomial_t_forward and the
    others)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, broadcast
from ._promoting import common_dtype, of_one_type

NOTE = "off by at most 1e-7 times the square of the degree between -1 and 1"
_SCHEMA = ("x", "n")
_ROW = 32
_HERMITE = 128
_MOST_STEPS = np.iinfo(np.int32).max - 1


@dataclass(frozen=True, slots=True)
class _Kind:
    """A polynomial: p(d) = ((a * d + b) * t + e * d + f) * p(d - 1) - (g * d + h) * p(d - 2).

    Attributes:
        first: p(1) as (factor of t, constant); t is x, or 2 * x - 1 where it is shifted.
        step: a, b, e, f, g, h.
        divided: Whether all that is divided by d.
        shifted: Whether it is.
    """

    first: tuple[float, float]
    step: tuple[float, float, float, float, float, float]
    divided: bool = False
    shifted: bool = False


_CHEBYSHEV = {"t": (1.0, 0.0), "u": (2.0, 0.0), "v": (2.0, -1.0), "w": (2.0, 1.0)}
_TWICE = (0.0, 2.0, 0.0, 0.0, 0.0, 1.0)
KINDS = {
    **{f"special_chebyshev_polynomial_{k}": _Kind(f, _TWICE) for k, f in _CHEBYSHEV.items()},
    **{
        f"special_shifted_chebyshev_polynomial_{k}": _Kind(f, _TWICE, shifted=True)
        for k, f in _CHEBYSHEV.items()
    },
    "special_hermite_polynomial_h": _Kind((2.0, 0.0), (0.0, 2.0, 0.0, 0.0, 2.0, -2.0)),
    "special_hermite_polynomial_he": _Kind((1.0, 0.0), (0.0, 1.0, 0.0, 0.0, 1.0, -1.0)),
    "special_laguerre_polynomial_l": _Kind(
        (-1.0, 1.0), (0.0, -1.0, 2.0, -1.0, 1.0, -1.0), divided=True
    ),
    "special_legendre_polynomial_p": _Kind(
        (1.0, 0.0), (2.0, -1.0, 0.0, 0.0, 1.0, -1.0), divided=True
    ),
}


def _operands(call: Call) -> tuple[Value, Value]:
    x, n = call.need("x"), call.need("n")
    dtype = common_dtype([x, n], to_float=True)
    if dtype.name not in ("float32", "float16"):
        raise Refuse(f"{x.name} must be float32 or float16; it is {dtype}")
    if x.rank is None or n.rank is None:
        raise Refuse(f"the ranks of {x.name} and {n.name} must be known")
    return x, n


def _linear(build: Builder, t: Value, factor: float, constant: float) -> Value:
    found = t if factor == 1 else build.Mul(t, factor)
    return build.Add(found, constant) if constant else found


def _next(build: Builder, kind: _Kind, t: Value, d: Any, p: Value, q: Value) -> Value:
    """Return the polynomial of degree `d` of the two before it; `d` is a number or a scalar."""
    a, b, e, f, g, h = kind.step

    def line(slope: float, start: float) -> Any:
        if isinstance(d, int):
            return slope * d + start
        return start if not slope else build.Add(build.Mul(d, slope), start)

    factor: Any = build.Mul(t, line(a, b))
    if e or f:
        factor = build.Add(factor, line(e, f))
    found = build.Sub(build.Mul(factor, q), build.Mul(p, line(g, h)))
    return build.Div(found, float(d) if isinstance(d, int) else d) if kind.divided else found


def _write(build: Builder, call: Call) -> Value:
    x, n = _operands(call)
    build.need_opset(12, ", which compares")
    kind = KINDS[call.operator]
    known = build.const(n)
    most = None if known is None or not known.size else int(np.trunc(known.max()))
    if "hermite_polynomial_h" in call.operator and (most or 0) > _HERMITE:
        raise Refuse(f"the degree must be at most {_HERMITE}; it is {most}")
    (t,) = (v for v in of_one_type(build, [x], np.dtype(np.float32)) if v)
    t = _linear(build, t, 2.0, -1.0) if kind.shifted else t
    degree = build.Cast(n, to=TensorProto.INT64)
    start = build.Add(build.Mul(t, 0.0), 1.0)
    first = _linear(build, t, *kind.first)
    zero = build.constant(np.zeros((), np.float32))
    low = build.Where(build.Less(degree, np.array(1)), start, first)
    out = build.Where(build.Less(degree, np.array(0)), zero, low)
    if most is not None and most <= _ROW:
        out = _in_a_row(build, kind, t, degree, most, [start, first, out])
    else:
        out = _in_a_loop(build, kind, t, degree, [start, first, out])
    half = common_dtype([x, n], to_float=True) == np.float16
    return build.Cast(out, to=TensorProto.FLOAT16) if half else out


def _in_a_row(
    build: Builder, kind: _Kind, t: Value, degree: Value, most: int, state: list[Value]
) -> Value:
    p, q, out = state
    for d in range(2, most + 1):
        p, q = q, _next(build, kind, t, d, p, q)
        out = build.Where(build.Less(degree, np.array(d)), out, q)
    return out


def _in_a_loop(build: Builder, kind: _Kind, t: Value, degree: Value, state: list[Value]) -> Value:
    every = build.Concat(build.Reshape(degree, [-1]), [1], axis=0)
    highest = build.ReduceMax(every, axes=[0], keepdims=0)

    def step(inner: Builder, at: Value, _: Value, p: Value, q: Value, out: Value) -> list[Value]:
        d = inner.Add(inner.Cast(at, to=TensorProto.FLOAT), 2.0)
        found = _next(inner, kind, t, d, p, q)
        kept = inner.Where(inner.Less(degree, inner.Add(at, np.array(2))), out, found)
        going = inner.Less(inner.Add(at, np.array(2)), highest)
        return [going, inner.Identity(q), found, kept]

    body = build.body(
        [
            ("at", TensorProto.INT64, ()),
            ("go", TensorProto.BOOL, ()),
            *((name, TensorProto.FLOAT, v.shape) for name, v in zip("pqo", state, strict=True)),
        ],
        step,
    )
    # The condition ends it: TensorRT takes no number of steps that is computed of floats, and does
    # not count the steps of a Loop without one, or with the largest of int32.
    every_step = build.constant(np.array(_MOST_STEPS))
    some = build.Less(np.array(1), highest)
    return build.multi("Loop", every_step, some, *state, outputs=3, body=body)[2]


def _type(call: Call) -> Sequence[InferredType | None]:
    x, n = _operands(call)
    half = common_dtype([x, n], to_float=True) == np.float16
    shape = broadcast(tuple(x.shape or ()), tuple(n.shape or ()))
    return (InferredType(TensorProto.FLOAT16 if half else TensorProto.FLOAT, shape),)


def _model(name: str) -> Callable[[ArrayCall], Any]:
    def model(call: ArrayCall) -> Any:
        x, n = call.need("x"), call.need("n")
        dtype = common_dtype([x, n], to_float=True)
        return _computed(KINDS[name], *np.broadcast_arrays(x, n)).astype(dtype)

    return model


def _computed(kind: _Kind, x: Array, n: Array) -> Array:
    t, degree = x.astype(np.float64), np.trunc(n).astype(np.int64)
    t = 2 * t - 1 if kind.shifted else t
    p, q = np.ones_like(t), kind.first[0] * t + kind.first[1]
    out = np.where(degree < 0, 0.0, np.where(degree < 1, p, q))
    a, b, e, f, g, h = kind.step
    for d in range(2, int(degree.max(initial=0)) + 1):
        found = ((a * d + b) * t + e * d + f) * q - (g * d + h) * p
        p, q = q, found / d if kind.divided else found
        out = np.where(degree < d, out, q)
    return np.asarray(out)


FAMILY = Family(
    {name: Function(_SCHEMA, _write, _model(name), NOTE, infer=_type) for name in KINDS}
)


aten_orthogonal_polynomial = FAMILY.replaced(
    __name__, emits="Add Cast Concat Div Identity Less Loop Mul ReduceMax Reshape Sub Where"
)
