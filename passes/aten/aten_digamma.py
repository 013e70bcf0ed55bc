"""Replace the digamma function by its asymptotic series.

What it does: From 6 on log(z) and five terms of the asymptotic series; below, the recurrence
    digamma(z) = digamma(z + 6) - 1/z - ... - 1/(z + 5); for negative numbers the reflection
    digamma(1 - x) - pi / tan(pi * x), with the distance from the nearest integer in the tangent.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node.
Before: y = org.pytorch.aten.ATen <operator = "digamma"> (x)
After:
    z = Where (Less (x, 0), Sub (1, x), x)
    t = Where (Less (z, 6), Add (z, 6), z)
    above = Sub (Sub (Log (t), series (1 / t)), Where (Less (z, 6), Add (1 / z, ...), 0))
    y = Where (Less (x, 0), Sub (above, Mul (pi, Div (Cos (pi * r), Sin (pi * r)))), above)
When it refuses: The type is unknown or float64 or bfloat16 (the series has no more digits), or the
    opset is below 9, which brought Where.
Accuracy: Approximate, for every float32 number: measured in onnxruntime, the error is at most 1e-6
    of max(1, value), or of max(1, pi / tan(pi * x)) for negative numbers. At 0 it is infinite, of
    the other sign than the zero, at negative integers and minus infinity NaN, as in PyTorch.
    float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/Math.h (calc_digamma); NIST Digital Library of
    Mathematical Functions, 5.5.2, 5.5.4 and 5.11.2.
"""

import math

import numpy as np

from graphfix.authoring import Array, Builder, Value

from ._emitting import clipped, polynomial
from ._family import Family
from ._special import special

NOTE = "float32: error at most 1e-6 of max(1, value), below 0 of max(1, pi / tan(pi * x))"
_SHIFT = 6
# What is taken from the logarithm: 1/(2t), then these times t**-2, t**-4, ... (Bernoulli numbers).
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240)


def _model(x: Array) -> Array:
    """Use a longer recurrence."""
    return np.array([_digamma(float(number)) for number in x.ravel()]).reshape(x.shape)


def _digamma(x: float) -> float:
    if x == 0:
        return -math.copysign(math.inf, x)
    if math.isnan(x) or x == math.inf:
        return x
    if x < 0:
        if x == -math.inf or x == math.floor(x):
            return math.nan
        return _digamma(1 - x) - math.pi / math.tan(math.pi * (x - math.floor(x + 0.5)))
    total = 0.0
    while x < 30:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    return total + math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))


def _digamma_of(build: Builder, x: Value) -> Value:
    negative = build.Less(x, 0.0)
    above = _above(build, build.Where(negative, build.Sub(np.float32(1), x), x))
    # The distance from the nearest integer is exact; at an integer there is no value. All numbers
    # below -2**23 are integers, and half of them would be moved by one half.
    near = clipped(build, x, -(2.0**23), 0.0)
    distance = build.Sub(near, build.Floor(build.Add(near, 0.5)))
    angle = build.Mul(distance, math.pi)
    cotangent = build.Div(build.Cos(angle), build.Sin(angle))
    mirrored = build.Sub(above, build.Mul(cotangent, math.pi))
    between = build.Less(np.float32(0), build.Abs(distance))
    below = build.Where(between, mirrored, build.constant(np.array(np.nan, np.float32)))
    return build.Where(negative, below, above)


def _above(build: Builder, z: Value) -> Value:
    """Return digamma of numbers from 0 on."""
    low = build.Less(z, float(_SHIFT))
    t = build.Where(low, build.Add(z, float(_SHIFT)), z)
    inverse = build.Reciprocal(t)
    square = build.Mul(inverse, inverse)
    tail = build.Add(build.Mul(inverse, 0.5), build.Mul(square, polynomial(build, square, _SERIES)))
    steps = build.Reciprocal(z)
    for k in range(1, _SHIFT):
        steps = build.Add(steps, build.Reciprocal(build.Add(z, float(k))))
    series = build.Sub(build.Log(t), tail)
    return build.Where(low, build.Sub(series, steps), series)


_DIGAMMA = special(_digamma_of, _model, NOTE, "series")
FAMILY = Family(dict.fromkeys(("digamma", "special_digamma", "special_psi"), _DIGAMMA))


aten_digamma = FAMILY.replaced(
    __name__,
    emits="Abs Add Cast Clip Cos Div Floor Less Log Mul Reciprocal Sin Sub Where",
    claims="nan inf",
)
