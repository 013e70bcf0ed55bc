"""Numpy models of Bessel functions of order 0 and 1, in float64.

Source: NIST Digital Library of Mathematical Functions, 10.9.2 and 10.12.1 (integral and generating
function of J), 10.8.2 and Abramowitz and Stegun 9.1.89 (Neumann's series of Y), 10.17.3 (Hankel's
expansion), 10.32.9 and 10.40.2 (K).
"""

import math
from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Array

_POINTS = 128
_FAR = 30.0  # Hankel's expansion has float64 from there on
_ORDERS = 32  # of J in Neumann's series: the next one is below 1e-14, and half of the points
_TERMS = 24
_STEP = 0.1
_FAR_K = 25.0


def hankel(order: int, x: Array) -> tuple[Array, Array]:
    """Return P and Q of J = sqrt(2 / (pi x)) * (P cos(w) - Q sin(w))."""
    both = [np.zeros_like(x), np.zeros_like(x)]
    term = np.ones_like(x)
    for k in range(_TERMS):
        both[k % 2] = both[k % 2] + term * (-1) ** (k // 2)
        term = term * (4 * order**2 - (2 * k + 1) ** 2) / (8 * (k + 1) * x)
    return both[0], both[1]


def _phase(order: int, x: Array) -> tuple[Array, Array]:
    """Return cosine and sine of x - (order / 2 + 1 / 4) * pi."""
    cosine, sine, root = np.cos(x), np.sin(x), math.sqrt(0.5)
    if order:
        return (sine - cosine) * root, -(sine + cosine) * root
    return (cosine + sine) * root, (sine - cosine) * root


def _near(x: Array) -> Array:
    """Return J of the orders from 0 to 127, along the last axis; x below 60."""
    angles = 2 * math.pi * np.arange(_POINTS) / _POINTS
    return np.fft.fft(np.exp(1j * x[..., None] * np.sin(angles)), axis=-1).real / _POINTS


def bessel_j(order: int, x: Array) -> Array:
    """Return J of any number."""
    a = np.abs(x)
    near = _near(np.minimum(a, _FAR))[..., order]
    far = np.maximum(a, _FAR)
    p, q = hankel(order, far)
    cosine, sine = _phase(order, far)
    value = np.where(a < _FAR, near, np.sqrt(2 / (math.pi * far)) * (p * cosine - q * sine))
    return np.asarray(np.where(x < 0, -value, value) if order else value)


def bessel_y(order: int, x: Array) -> Array:
    """Return Y of numbers from 0 on; NaN below."""
    far = np.maximum(x, _FAR)
    p, q = hankel(order, far)
    cosine, sine = _phase(order, far)
    large = np.sqrt(2 / (math.pi * far)) * (p * sine + q * cosine)
    value = np.where(x < _FAR, _neumann(order, np.clip(x, 1e-300, _FAR)), large)
    return np.where(x < 0, np.nan, np.where(x == 0, -np.inf, value))


def _neumann(order: int, x: Array) -> Array:
    j = _near(x)
    logarithm = np.log(x / 2) + np.euler_gamma
    total = np.zeros_like(x)
    for k in range(1, _ORDERS):
        term = j[..., 2 * k] if not order else (j[..., 2 * k + 1] - j[..., 2 * k - 1]) / 2
        total = total + (-1) ** k * term / k
    if not order:
        return np.asarray((2 * logarithm * j[..., 0] - 4 * total) / math.pi)
    return np.asarray((2 * logarithm * j[..., 1] - 2 * j[..., 0] / x - 4 * total) / math.pi)


def scaled_k(order: float, x: Array) -> Array:
    """Return K(x) * exp(x) of numbers above 0 and any order."""
    near = np.clip(x, 1e-46, _FAR_K)
    total = np.full_like(near, 0.5)
    # The trapezoidal rule; its error is below exp(-2 pi**2 / (x step**2)).
    for k in range(1, 1150):
        t = k * _STEP
        total = total + np.exp(-near * (math.cosh(t) - 1)) * math.cosh(order * t)
    far = np.maximum(x, _FAR_K)
    series, term = np.zeros_like(far), np.ones_like(far)
    for k in range(_TERMS):
        series = series + term
        term = term * (4 * order**2 - (2 * k + 1) ** 2) / (8 * (k + 1) * far)
    large = np.sqrt(math.pi / (2 * far)) * series
    return np.where(x < _FAR_K, total * _STEP, large)


def bessel_i(order: int, x: Array) -> Array:
    """Return I of small numbers by its power series."""
    q = x * x / 4
    terms: Sequence[float] = [
        1 / (math.factorial(k) * math.factorial(k + order)) for k in range(20)
    ]
    series = np.polynomial.polynomial.polyval(q, np.array(terms))
    return np.asarray(series * (x / 2) if order else series)
