"""Replace the logarithm of the gamma function by polynomials and Stirling's series.

What it does:
    From 8 on Stirling's series with three terms, below three polynomials for parts of the axis
    (those around 1 and 2 times the distance from the zero there), and below 0.5 the reflection
    log(pi / abs(sin(pi * x))) - lgamma(1 - x). Where picks; unused branches stay finite.

Why engines need it:
    ONNX has no such operator, and PyTorch's exporter writes an ATen node.

Before:
    y = org.pytorch.aten.ATen <operator = "lgamma"> (x)

After:
    a = Mul (Sub (z, 1), polynomial (Min (z, 1.5) - 1))
    b = Mul (Sub (z, 2), polynomial (Max (Min (z, 3.5), 1.5) - 2.5))
    ...
    y = Where (Less (z, 1.5), a, Where (Less (z, 3.5), b, ...))

When it refuses:
    The type is unknown or float64 or bfloat16 (the polynomials have no more digits), or
    the opset is below 9, which brought Where.

Accuracy:
    Approximate, for every float32 number: measured in onnxruntime, the error is at most
    5e-7 of the value from 0.5 on, zeros at 1 and 2 included, and at most 2e-6 of max(1, value)
    between -1e5 and 0.5, near the zeros of negative numbers too. Infinity at 0 and the negative
    integers, and where the value is beyond float32, as in PyTorch. float16 is computed in float32.

References:
    pytorch/pytorch aten/src/ATen/native/UnaryOps.cpp (lgamma);
    NIST Digital Library of Mathematical Functions, 5.5.3 (reflection) and 5.11.1 (Stirling).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphfix.authoring import APPROXIMATE, Array, Builder, NodeView, Value, rewrite
from graphfix.passes.aten._arguments import ArrayCall, features, matching
from graphfix.passes.aten._axes import widened
from graphfix.passes.aten._emitting import clipped, polynomial
from graphfix.passes.aten._special import SCHEMA, in_floats, like_operand, operand

NAMES = ("lgamma", "special_gammaln")
NOTE = (
    "float32: error at most 5e-7 of the value from 0.5 on, at most 2e-6 of max(1, value) from "
    "-1e5 to 0.5"
)
# Chebyshev fits of lgamma(x) / (x - 1) on [0.5, 1.5] in x - 1, of lgamma(x) / (x - 2) on
# [1.5, 3.5] in x - 2.5, and of lgamma(x) on [3.5, 8] in x - 5.75; the lowest power first. Each
# is off by less than 1e-8 of the largest value.
_NEAR_1 = (
    -0.5772156661,
    0.8224669052,
    -0.4006851559,
    0.2705948464,
    -0.2074154498,
    0.1691217238,
    -0.1433556558,
    0.1312135812,
    -0.1188908671,
    0.06483359654,
    -0.05003049598,
    0.1804352464,
    -0.1783846632,
)
_NEAR_2 = (
    0.5693657271,
    0.2675818282,
    -0.04480516068,
    0.01087643508,
    -0.003100514178,
    0.0009641915746,
    -0.0003006872339,
    0.0001003152083,
    -5.257834528e-05,
    1.952357624e-05,
)
_MIDDLE = (
    4.366716066,
    1.659730345,
    0.0949534172,
    -0.005993033512,
    0.0005662070377,
    -6.401717486e-05,
    7.760224778e-06,
    -1.022905652e-06,
    2.003246258e-07,
    -3.033093755e-08,
)
# log(2 * pi) / 2 - 1/2, and the coefficients of 1/x, 1/x^3 and 1/x^5.
_STIRLING = (0.5 * math.log(2 * math.pi) - 0.5, 1 / 12, -1 / 360, 1 / 1260)
LARGEST = 1e36


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use the standard library, in float64."""
    x = in_floats(ArrayCall(inputs, attributes, SCHEMA).need("self"))
    values = np.array([_lgamma(float(number)) for number in x.ravel()], dtype=np.float64)
    values[np.abs(values) > np.finfo(x.dtype).max] = np.inf
    return (values.reshape(x.shape).astype(x.dtype),)


def _lgamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


@rewrite(
    matching(NAMES),
    removes=features(NAMES),
    emits="Abs Add Cast Clip Div Floor Less Log Mul Sin Sub Where",
    accuracy=APPROXIMATE,
    infer=like_operand,
    evaluate=evaluate,
)
def aten_lgamma(node: NodeView, build: Builder) -> Value:
    """Pick among polynomials and the series, see the module."""
    x = operand(node, build, NAMES, "polynomials")
    build.declare(APPROXIMATE, NOTE)
    return widened(build, x, lambda wide: _both_sides(build, wide))


def _both_sides(build: Builder, x: Value) -> Value:
    low = build.Less(x, 0.5)
    # Beyond this the result is infinite on the left anyway, and the branches would overflow.
    left = clipped(build, build.Sub(np.float32(1), x), 0.5, LARGEST)
    above = _above(build, build.Where(low, left, x))
    # The distance from the nearest integer is exact, and the sine of it loses nothing.
    near = clipped(build, x, -LARGEST, LARGEST)
    distance = build.Abs(build.Sub(near, build.Floor(build.Add(near, 0.5))))
    sine = build.Sin(build.Mul(clipped(build, distance, 0.0, 0.5), math.pi))
    mirrored = build.Sub(build.Sub(np.float32(math.log(math.pi)), build.Log(sine)), above)
    return build.Where(low, mirrored, above)


def _above(build: Builder, z: Value) -> Value:
    """Return lgamma of numbers from 0.5 on."""
    first = clipped(build, build.Sub(z, 1.0), -0.5, 0.5)
    near_1 = build.Mul(first, polynomial(build, first, _NEAR_1))
    between = clipped(build, z, 1.5, 3.5)
    shifted = build.Sub(between, 2.5)
    near_2 = build.Mul(build.Sub(between, 2.0), polynomial(build, shifted, _NEAR_2))
    middle = polynomial(build, build.Sub(clipped(build, z, 3.5, 8.0), 5.75), _MIDDLE)
    large = _stirling(build, clipped(build, z, 8.0, float(np.finfo(np.float32).max)))
    far = build.Where(build.Less(z, 8.0), middle, large)
    return build.Where(build.Less(z, 1.5), near_1, build.Where(build.Less(z, 3.5), near_2, far))


def _stirling(build: Builder, z: Value) -> Value:
    constant, *terms = _STIRLING
    inverse = build.Div(np.float32(1), z)
    series = build.Mul(inverse, polynomial(build, build.Mul(inverse, inverse), terms))
    main = build.Mul(build.Sub(z, 0.5), build.Sub(build.Log(z), 1.0))
    return build.Add(build.Add(main, constant), series)
