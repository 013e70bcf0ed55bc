"""Replace the tail of the normal distribution and its relatives by polynomials.

What it does: exp(x**2) * erfc(x), called erfcx, is a polynomial in (x - 3.75) / (x + 3.75), divided
    by 1 + 2 * x, and 1 / (sqrt(pi) * x) far out; below 0 it is 2 * exp(x**2) less that of -x. From
    it come ndtr, the distribution function, and log_ndtr, its logarithm, without the difference of
    nearly equal numbers that their definitions have. ndtri, the inverse of ndtr, is (2 * p - 1)
    times a polynomial in -log(4 * p * (1 - p)) or its root.
Why engines need it: ONNX has no such operators. What PyTorch's exporter makes of erfcx and log_ndtr
    overflows, and ndtri it does not translate.
Before: y = org.pytorch.aten.ATen <operator = "special_erfcx"> (x)
After:
    a = Abs (x)
    t = Div (Sub (a, 3.75), Add (a, 3.75))
    above = Div (polynomial (t), Add (1, Mul (2, a)))
    y = Where (Less (x, 0), Sub (Mul (2, Exp (Mul (x, x))), above), above)
When it refuses: The type is unknown or float64 or bfloat16 (the polynomials have no more digits),
    or the opset is below 9, which brought Where.
Accuracy: Approximate, for every float32 number: measured in onnxruntime, the error is at most 8e-7
    of the value, and at most 2e-43 below 1e-38. NaN and infinities as in PyTorch; ndtri is infinite
    at 0 and 1 and NaN beyond. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/Math.h (calc_erfcx, calc_log_ndtr, calc_ndtri); M.
    M. Shepherd and J. G. Laframboise, Chebyshev approximation of (1 + 2x) exp(x**2) erfc x,
    Mathematics of Computation 36, 1981 (the variable t; the polynomials are fits of our own).
"""

import math
from collections.abc import Callable

import numpy as np

from graphfix.authoring import Array, Builder, Value

from ._emitting import clipped
from ._family import Family
from ._fitting import Piece, one_piece
from ._special import special

NOTE = "float32: error at most 8e-7 of the value"
_MIDDLE = 3.75
_FAR = 1e4  # 1 / (sqrt(pi) * x) has all digits of float32 from there on
_SERIES = 20.0
# Steps of the part whose square float32 holds: 9 bits up to 32.
_STEP = 1 / 16
_BORDER, _END = 5.0, 104.0  # of -log(4 * p * (1 - p)); float32 ends at 102
_ROOT = math.sqrt(0.5)


def _erfcx(x: Array) -> Array:
    """Return exp(x**2) * erfc(x)."""
    near = np.clip(x, -30.0, _SERIES)
    value = np.exp(near * near) * _each(math.erfc, near)
    far = np.maximum(x, _SERIES)
    total, term = np.zeros_like(far), np.ones_like(far)
    for k in range(1, 14):
        total = total + term
        term = term * -(2 * k - 1) / (2 * far * far)
    return np.where(x < _SERIES, value, total / (far * math.sqrt(math.pi)))


def _each(function: Callable[[float], float], x: Array) -> Array:
    values = [function(number) for number in x.ravel().tolist()]
    return np.array(values, dtype=np.float64).reshape(x.shape)


def _ndtr(x: Array) -> Array:
    return _each(lambda number: math.erfc(-number * _ROOT) / 2, x)


def _log_ndtr(x: Array) -> Array:
    low = np.log(_erfcx(-np.minimum(x, 0) * _ROOT) / 2) - x * x / 2
    return np.where(x < 0, low, np.log1p(-_ndtr(-np.maximum(x, 0))))


def _ndtri(p: Array) -> Array:
    from statistics import NormalDist  # it brings fractions and decimals along

    inverse = NormalDist().inv_cdf

    def one(number: float) -> float:
        if 0 < number < 1:
            return inverse(number)
        return {0.0: -math.inf, 1.0: math.inf}.get(number, math.nan)

    return _each(one, p)


def _above(build: Builder, a: Value) -> Value:
    """Return erfcx of numbers from 0 on."""
    near = clipped(build, a, 0.0, _FAR)
    place = build.Div(build.Sub(near, _MIDDLE), build.Add(near, _MIDDLE))

    def model(t: Array) -> Array:
        x = _MIDDLE * (1 + t) / (1 - t)
        return np.asarray(_erfcx(x) * (1 + 2 * x))

    scaled = one_piece(build, place, model, Piece(-1.0, 1.0))
    value = build.Div(scaled, build.Add(build.Mul(near, 2.0), 1.0))
    far = build.Div(np.float32(1 / math.sqrt(math.pi)), a)
    return build.Where(build.Less(a, _FAR), value, far)


def _exp_of_square(build: Builder, a: Value, factor: float, end: float) -> Value:
    """Return exp(factor * a**2) of numbers from 0 on, where the square has more digits than fit.

    Args:
        build: The builder.
        a: The numbers.
        factor: A power of two, or its negative.
        end: Where the result is 0 or infinite.
    """
    held = clipped(build, a, 0.0, end)
    round_ = build.Mul(build.Floor(build.Mul(held, 1 / _STEP)), _STEP)
    rest = build.Mul(build.Sub(held, round_), build.Add(held, round_))
    parts = (build.Mul(build.Mul(round_, round_), factor), build.Mul(rest, factor))
    return build.Mul(build.Exp(parts[0]), build.Exp(parts[1]))


def _erfcx_of(build: Builder, x: Value) -> Value:
    a = build.Abs(x)
    above = _above(build, a)
    below = build.Sub(build.Mul(_exp_of_square(build, a, 1.0, 10.0), 2.0), above)
    return build.Where(build.Less(x, 0.0), below, above)


def _tail(build: Builder, a: Value) -> Value:
    """Return how much of the distribution is beyond a number from 0 on."""
    scale = build.Mul(_exp_of_square(build, a, -0.5, 16.0), 0.5)
    return build.Mul(scale, _above(build, build.Mul(a, _ROOT)))


def _ndtr_of(build: Builder, x: Value) -> Value:
    tail = _tail(build, build.Abs(x))
    return build.Where(build.Less(x, 0.0), tail, build.Sub(np.float32(1), tail))


def _log_ndtr_of(build: Builder, x: Value) -> Value:
    a = build.Abs(x)
    logarithm = build.Log(build.Mul(_above(build, build.Mul(a, _ROOT)), 0.5))
    low = build.Sub(logarithm, build.Mul(build.Mul(a, 0.5), a))
    high = one_piece(build, _tail(build, a), lambda q: np.log1p(-q), Piece(0.0, 0.5, 0.0))
    return build.Where(build.Less(x, 0.0), low, high)


def _ratio(w: Array) -> Array:
    """Return ndtri(p) / (2 * p - 1) of -log(4 * p * (1 - p))."""
    root = np.sqrt(-np.expm1(-w))
    return -_ndtri(np.exp(-w) / (2 * (1 + root))) / root


def _ndtri_of(build: Builder, p: Value) -> Value:
    rest = build.Sub(np.float32(1), p)
    side = build.Mul(build.Sub(p, 0.5), 2.0)
    w = build.Neg(build.Log(build.Mul(build.Mul(p, 4.0), rest)))
    low = one_piece(build, w, _ratio, Piece(0.0, _BORDER))
    root = build.Sqrt(clipped(build, w, _BORDER, _END))
    ends = Piece(math.sqrt(_BORDER), math.sqrt(_END))
    high = one_piece(build, root, lambda s: _ratio(s * s), ends)
    inside = build.And(build.Less(np.float32(0), p), build.Less(p, 1.0))
    # The logarithm of 0 is infinite, that of a negative number NaN.
    ratio = build.Where(inside, build.Where(build.Less(w, _BORDER), low, high), w)
    return build.Mul(side, ratio)


FAMILY = Family(
    {
        "special_erfcx": special(_erfcx_of, _erfcx, NOTE, "polynomials"),
        "special_ndtr": special(_ndtr_of, _ndtr, NOTE, "polynomials"),
        "special_log_ndtr": special(_log_ndtr_of, _log_ndtr, NOTE, "polynomials"),
        "special_ndtri": special(_ndtri_of, _ndtri, NOTE, "polynomials"),
    }
)


aten_normal_tail = FAMILY.replaced(
    __name__,
    emits="Abs Add And Cast Clip Div Exp Floor Less Log Mul Neg Sqrt Sub Where",
    claims="nan inf",
)
