"""Replace the inverse of the error function by two polynomials.

What it does: With w = -log((1 - x) * (1 + x)) the quotient erfinv(x) / x is smooth: one polynomial
    in w up to 5, another one in sqrt(w) from there on (float32 ends at 17). Where picks.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node.
Before: y = org.pytorch.aten.ATen <operator = "erfinv"> (x)
After:
    w = Neg (Log (Mul (Sub (1, a), Add (1, a))))                     a = Abs (x)
    p = Where (Less (w, 5), polynomial (Min (w, 5)), polynomial (Sqrt (Max (w, 5))))
    y = Where (Less (a, 1), Mul (x, p), Mul (x, Neg (Log (Sub (1, a)))))
When it refuses: The type is unknown or float64 or bfloat16 (the polynomials have no more digits),
    or the opset is below 9, which brought Where.
Accuracy: Approximate, for every float32 number: measured in onnxruntime, the error is at most 3e-7
    of the value. Infinite at -1 and 1, NaN beyond and for NaN, as in PyTorch. float16 is computed
    in float32.
References: pytorch/pytorch aten/src/ATen/native/Math.h (calc_erfinv); M. Giles, Approximating the
    erfinv function, GPU Computing Gems Jade Edition, 2011 (the variable w; the polynomials are fits
    of our own).
"""

import math

import numpy as np

from graphfix.authoring import Array, Builder, Value

from ._emitting import clipped, polynomial
from ._family import Family
from ._special import special

NOTE = "float32: error at most 3e-7 of the value"
# Chebyshev fits of erfinv(x) / x, off by less than 2e-8 of it, the lowest power first: in
# (w - 2.5) / 2.5, and in (sqrt(w) - _MIDDLE) / _HALF from sqrt(5) to sqrt(17).
_LOW = (
    1.50140936,
    0.6166006962,
    -0.02610867796,
    -0.01957383167,
    0.008529136202,
    -0.000485651335,
    -0.0008454817066,
    0.0002858074791,
    3.549926784e-05,
    -3.410878788e-05,
)
_HIGH = (
    3.013130077,
    0.9477110602,
    0.005560220503,
    -0.003817343384,
    0.002489214478,
    -0.001588259496,
    0.0008443215527,
    -0.0002399407301,
    -7.959992226e-05,
    6.59361775e-05,
)
_BORDER, _END = 5.0, 17.0
_MIDDLE = (math.sqrt(_END) + math.sqrt(_BORDER)) / 2
_HALF = (math.sqrt(_END) - math.sqrt(_BORDER)) / 2


def _model(x: Array) -> Array:
    """Use Newton's method on the error function of the standard library."""
    return np.array([_erfinv(float(number)) for number in x.ravel()]).reshape(x.shape)


def _erfinv(x: float) -> float:
    a = abs(x)
    if not a < 1:
        return math.copysign(math.inf, x) if a == 1 else math.nan
    if a < 1e-8:
        return x * math.sqrt(math.pi) / 2
    from statistics import NormalDist  # it brings fractions and decimals along

    # From the quantile of the normal distribution, which is precise in its lower tail.
    y = -NormalDist().inv_cdf((1 - a) / 2) / math.sqrt(2)
    for _ in range(2):
        y += (math.erfc(y) - (1 - a)) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return math.copysign(y, x)


def _erfinv_of(build: Builder, x: Value) -> Value:
    a = build.Abs(x)
    rest = build.Sub(np.float32(1), a)
    w = build.Neg(build.Log(build.Mul(rest, build.Add(a, 1.0))))
    low = build.Mul(build.Sub(clipped(build, w, 0.0, _BORDER), _BORDER / 2), 2 / _BORDER)
    root = build.Sqrt(clipped(build, w, _BORDER, _END))
    high = build.Mul(build.Sub(root, _MIDDLE), 1 / _HALF)
    factor = build.Where(
        build.Less(w, _BORDER), polynomial(build, low, _LOW), polynomial(build, high, _HIGH)
    )
    # The logarithm of 0 is infinite, that of a negative number NaN.
    beyond = build.Mul(x, build.Neg(build.Log(rest)))
    return build.Where(build.Less(a, 1.0), build.Mul(x, factor), beyond)


_ERFINV = special(_erfinv_of, _model, NOTE, "polynomials")
FAMILY = Family({"erfinv": _ERFINV, "special_erfinv": _ERFINV})


aten_erfinv = FAMILY.replaced(
    __name__,
    emits="Abs Add Cast Clip Less Log Mul Neg Sqrt Sub Where",
    claims="nan inf",
)
