"""The logarithm of the gamma function by polynomials and Stirling's series, and its numpy model."""

import math

import numpy as np

from graphfix.authoring import Array, Builder, Value

from ._emitting import clipped, polynomial

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
_LARGEST = 1e36


def lgamma_of(x: Array) -> Array:
    """Return it by the standard library, in float64."""
    values = np.array([_lgamma(float(number)) for number in x.ravel()], dtype=np.float64)
    return values.reshape(x.shape)


def _lgamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def lgamma(build: Builder, x: Value) -> Value:
    """Return it of float32 numbers; aten-lgamma says how precise it is."""
    low = build.Less(x, 0.5)
    # Beyond this the result is infinite on the left anyway, and the branches would overflow.
    left = clipped(build, build.Sub(np.float32(1), x), 0.5, _LARGEST)
    above = _above(build, build.Where(low, left, x))
    # The distance from the nearest integer is exact, and the sine of it loses nothing.
    near = clipped(build, x, -_LARGEST, _LARGEST)
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
