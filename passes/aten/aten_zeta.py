"""Replace Hurwitz' zeta function and the derivatives of digamma by the Euler-Maclaurin formula.

What it does: Adds nine powers and the four correction terms of the formula for what is left of the
    sum. A negative q has a sum with as many more terms as it is below 0; these are the difference
    of two such sums of positive numbers. polygamma(n, x) is zeta(n + 1, x) times n! and a sign.
Why engines need it: ONNX has no such operators, and PyTorch's exporter translates neither.
Before: y = org.pytorch.aten.ATen <operator = "polygamma"> (1, x)
After:
    z = Add (x, 9)
    y = Add (Add (Pow (x, -2), Pow (Add (x, 1), -2)), ...), Div (Pow (z, -1), 1)), ...
When it refuses: A type is unknown or float64 or bfloat16 (the formula has no more digits), the
    opset is below 9, which brought Where, or n is computed at run time, 0 (digamma) or more than
    30.
Accuracy: Approximate, for every finite float32 number: measured in onnxruntime, the error is at
    most 2e-6 of the value, below 0 of the largest term of the sum, as long as the sum is above
    1e-38. Infinite at 0 and negative integers (PyTorch's polygamma of order 1 ends at 1e15 there)
    and for the exponent 1, NaN for smaller ones, and for negative numbers with one that is no
    integer. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/Math.h (zeta, calc_polygamma, trigamma); NIST
    Digital Library of Mathematical Functions, 25.11.5 (the formula) and 5.15.1 (polygamma).
"""

import math
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._arithmetic import two
from ._emitting import clipped
from ._family import Family, Function
from ._special import floats_of, in_floats, like_self

NOTE = "float32: error at most 2e-6 of the value, below 0 of the largest term"
_TERMS = 9
# Bernoulli numbers of even order, divided by the factorial of the order.
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)
_FURTHER = (*_BERNOULLI, 1 / 47900160, -691 / 1307674368000)
_STEEP = 1000.0  # a larger exponent leaves nothing of the corrections
_MOST = 30  # the factorial is a float32 up to 34


def _above(build: Builder, s: Value, q: Value) -> Value:
    """Return the sum over q, q + 1, ... of numbers above 0, s above 1."""
    power = build.Neg(s)
    total = build.Pow(q, power)
    for k in range(1, _TERMS):
        total = build.Add(total, build.Pow(build.Add(q, float(k)), power))
    z = build.Add(q, float(_TERMS))
    # This power is the largest part of what is left, and further from the smallest number.
    first = build.Pow(z, build.Add(power, 1.0))
    inverse = build.Reciprocal(z)
    rest = build.Add(build.Reciprocal(build.Sub(s, 1.0)), build.Mul(inverse, 0.5))
    steep = clipped(build, s, 1.0, _STEEP)
    square = build.Mul(inverse, inverse)
    factor = build.Mul(steep, square)
    for at, number in enumerate(_BERNOULLI):
        rest = build.Add(rest, build.Mul(factor, number))
        if at + 1 < len(_BERNOULLI):
            grown = build.Mul(
                build.Add(steep, float(2 * at + 1)), build.Add(steep, float(2 * at + 2))
            )
            factor = build.Mul(build.Mul(factor, grown), square)
    return build.Add(total, build.Mul(first, rest))


def _zeta_of(build: Builder, s: Value, q: Value) -> Value:
    """Return it of any real numbers, as PyTorch has it."""
    positive = build.Less(np.float32(0), q)
    share = build.Sub(q, build.Floor(q))
    here = _above(build, s, build.Where(positive, q, share))
    # The distance from the integer above is exact where that from the one below is rounded.
    other = build.Sub(build.Neg(build.Floor(build.Neg(q))), q)
    below = build.Sub(_above(build, s, other), _above(build, s, build.Sub(np.float32(1), q)))
    half = build.Mul(s, 0.5)
    odd = build.Less(np.float32(0), build.Sub(half, build.Floor(half)))
    signed = build.Where(odd, build.Neg(below), below)
    value = build.Where(positive, here, build.Add(here, signed))
    # Only an integer has a power of a negative number.
    broken = build.Less(np.float32(0), build.Sub(s, build.Floor(s)))
    left = build.Where(broken, np.float32(np.nan), value)
    # Nothing is left of an integer, and the sum has a pole there; NaN stays.
    left = build.Where(build.Less(np.float32(0), share), left, build.Add(share, np.inf))
    return build.Where(positive, value, left)


def _zeta(build: Builder, _: Call, v: list[Any]) -> Value:
    s, q = v
    value = _zeta_of(build, s, q)
    # Below 1 there is no sum, and at 1 it is endless; NaN stays.
    low = build.Where(build.Less(s, 1.0), np.float32(np.nan), build.Add(s, np.inf))
    return build.Where(build.Less(np.float32(1), s), value, low)


def _above_model(s: Array, q: Array) -> Array:
    terms = 25
    total = sum((q + k) ** -s for k in range(terms))
    z, steep = q + terms, np.clip(s, 1.0, _STEEP)
    rest, factor = z / (s - 1) + 0.5, steep / z
    for at, number in enumerate(_FURTHER):
        rest = rest + factor * number
        factor = factor * (steep + 2 * at + 1) * (steep + 2 * at + 2) / (z * z)
    return np.asarray(total + z**-s * rest)


def _zeta_model(s: Array, q: Array) -> Array:
    share = q - np.floor(q)
    sign = np.where(s % 2 == 0, 1.0, -1.0)
    below = _above_model(s, np.ceil(q) - q) - _above_model(s, 1 - q)
    value = _above_model(s, np.where(q > 0, q, share)) + np.where(q > 0, 0.0, sign * below)
    broken = (q < 0) & (s != np.floor(s))
    value = np.where(broken, np.nan, value)
    value = np.where((q <= 0) & (share == 0), np.inf, value)
    return np.where(s > 1, value, np.where(s == 1, np.inf, np.nan))


def _order(call: Call | ArrayCall) -> int:
    order = int(call.number("n"))
    if not 1 <= order <= _MOST:
        raise Refuse(f"n must be from 1 to {_MOST}; it is {order}")
    return order


def _factor(order: int) -> float:
    return float(math.factorial(order)) * (1 if order % 2 else -1)


def _polygamma(build: Builder, call: Call) -> Value:
    order = _order(call)
    x = floats_of(build, call.need("self"), "formula")
    half = x.elem_type == TensorProto.FLOAT16
    x = build.Cast(x, to=TensorProto.FLOAT) if half else x
    value = _zeta_of(build, build.constant(np.array(order + 1, np.float32)), x)
    value = build.Mul(value, _factor(order))
    return build.Cast(value, to=TensorProto.FLOAT16) if half else value


def _polygamma_model(call: ArrayCall) -> Any:
    x, order = in_floats(call.need("self")), _order(call)
    value = _zeta_model(np.array(order + 1.0), x.astype(np.float64))
    return (value * _factor(order)).astype(x.dtype)


_POLYGAMMA = Function(("n", "self"), _polygamma, _polygamma_model, NOTE, infer=like_self)
FAMILY = Family({
    "special_zeta": two(
        _zeta, lambda _, v: _zeta_model(*v), kind="float", takes="f", note=NOTE
    ).function(),
    **dict.fromkeys(("polygamma", "special_polygamma"), _POLYGAMMA),
})  # fmt: skip


aten_zeta = FAMILY.replaced(
    __name__,
    emits="Add Cast Clip Floor Less Mul Neg Pow Reciprocal Sub Where",
    claims="nan",
    opset=9,
    why=", which has Where",
)
