"""Replace the modified Bessel functions I0 and I1 by their power and asymptotic series.

What it does: Up to 12 the power series in (x / 2)**2, from there on the asymptotic series in 1 / x
    times exp(x) / sqrt(2 * pi * x), both of abs(x); Where picks, and the branch that is not picked
    stays finite. The scaled functions (i0e, i1e) are multiplied by exp(-abs(x)) in the first part
    and lack exp(x) in the second. I1 takes the sign of x.
Why engines need it: ONNX has no such operators, and PyTorch's exporter writes ATen nodes.
Before: y = org.pytorch.aten.ATen <operator = "special_i0e"> (x)
After:
    a = Abs (x)
    near = Mul (Exp (Neg (Min (a, 12))), polynomial (Min (a, 12) ** 2))
    far = Div (polynomial (1 / Max (a, 12)), Sqrt (Max (a, 12)))
    y = Where (Less (a, 12), near, far)
When it refuses: The type is unknown or float64 or bfloat16 (the series have no more digits), or the
    opset is below 9, which brought Where.
Accuracy: Approximate, for every float32 number: measured in onnxruntime, the error is at most 6e-7
    of the value, and at most 2e-43 below 1e-38. The functions that are not scaled are infinite
    where exp(x) is beyond float32 (from 88.73 on) and NaN at both infinities, as in PyTorch; the
    scaled ones are 0 there. NaN stays NaN. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/Math.h (calc_i0, calc_i0e, calc_i1, calc_i1e); NIST
    Digital Library of Mathematical Functions, 10.25.2 (power series) and 10.40.1 (asymptotic).
"""

import math
from functools import partial
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, Value

from ._arguments import ArrayCall
from ._emitting import clipped, polynomial
from ._family import Family, Function
from ._special import SCHEMA, in_floats, like_self, written

# Operator -> (order, whether it is scaled by exp(-abs(x))).
KINDS = {
    "i0": (0, False),
    "special_i0": (0, False),
    "special_i0e": (0, True),
    "special_i1": (1, False),
    "special_i1e": (1, True),
    "special_modified_bessel_i0": (0, False),
    "special_modified_bessel_i1": (1, False),
}
NOTE = "float32: error at most 6e-7 of the value"
BORDER = 12.0
_LARGEST = float(np.finfo(np.float32).max)
_POINTS = 128


def _near(order: int) -> tuple[float, ...]:
    """Return the coefficients of (x / 2)**2 in I(x), or in I(x) / x for order 1."""
    scale = 0.5 if order else 1.0
    return tuple(scale / (math.factorial(k) * math.factorial(k + order)) for k in range(21))


def _far(order: int) -> tuple[float, ...]:
    """Return the coefficients of 1 / x in sqrt(x) * exp(-x) * I(x)."""
    term = 1 / math.sqrt(2 * math.pi)
    found = [term]
    for k in range(1, 10):
        term *= -(4 * order**2 - (2 * k - 1) ** 2) / (8 * k)
        found.append(term)
    return tuple(found)


def _model(call: ArrayCall, order: int, *, scaled: bool) -> Any:
    """Integrate, in float64."""
    x = in_floats(call.need("self"))
    result = _scaled(x.astype(np.float64), order)
    if not scaled:
        # Infinite where exp(x) is in the type at hand, as PyTorch computes it.
        wide = x if x.dtype == np.float64 else x.astype(np.float32)
        factor = np.exp(np.abs(wide)).astype(np.float64)
        exact = np.exp(np.abs(wide).astype(np.float64))
        result = result * np.where(np.isinf(factor), factor, exact)
    return result.astype(x.dtype)


def _scaled(x: Array, order: int) -> Array:
    """Return I(x) * exp(-abs(x)) in float64."""
    a = np.abs(x)
    tiny = np.minimum(a, 0.5)
    series = np.polynomial.polynomial.polyval(tiny * tiny / 4, np.array(_near(order)))
    small = series * np.exp(-tiny) * (tiny if order else 1.0)
    near = np.minimum(a, 64.0)
    total = np.zeros_like(near)
    # The trapezoidal rule for the integral of exp(x * cos(t)) * cos(order * t); it converges
    # faster than any power of the number of points (DLMF 10.32.3 and 3.5(i)).
    for k in range(_POINTS):
        angle = 2 * math.pi * k / _POINTS
        total = total + np.exp(near * (math.cos(angle) - 1)) * math.cos(order * angle)
    far = np.maximum(a, 64.0)
    large = np.polynomial.polynomial.polyval(1 / far, np.array(_far(order))) / np.sqrt(far)
    value = np.where(a < 0.5, small, np.where(a < 64.0, total / _POINTS, large))
    return np.copysign(value, x) if order else value


def _bessel(build: Builder, x: Value, order: int, *, scaled: bool) -> Value:
    a = build.Abs(x)
    low = clipped(build, a, 0.0, BORDER)
    near = polynomial(build, build.Mul(low, build.Mul(low, 0.25)), _near(order))
    if order:
        near = build.Mul(near, low)
    high = clipped(build, a, BORDER, _LARGEST)
    far = build.Div(polynomial(build, build.Reciprocal(high), _far(order)), build.Sqrt(high))
    # The last number before infinity gives a value; infinity gives 0.
    far = build.Where(build.Less(a, np.float32(np.inf)), far, build.Mul(far, 0.0))
    if scaled:
        near = build.Mul(near, build.Exp(build.Neg(low)))
    else:
        far = build.Mul(far, build.Exp(a))
    value = build.Where(build.Less(a, BORDER), near, far)
    return build.Where(build.Less(x, 0.0), build.Neg(value), value) if order else value


def _function(order: int, *, scaled: bool) -> Function:
    write = written(partial(_bessel, order=order, scaled=scaled), "series")
    model = partial(_model, order=order, scaled=scaled)
    return Function(SCHEMA, write, model, NOTE, infer=like_self)


FAMILY = Family({name: _function(order, scaled=scaled) for name, (order, scaled) in KINDS.items()})


aten_bessel_i = FAMILY.replaced(
    __name__,
    emits="Abs Add Cast Clip Div Exp Less Mul Neg Reciprocal Sqrt Where",
    claims="nan inf",
)
