"""Elementwise functions: how each is written in standard operators, and what numpy says of it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from graphfix.authoring import Array, Builder, Value

from ._emitting import clipped, polynomial

_LARGEST = float(np.finfo(np.float32).max)
_SMALLEST = 1e-38
# (exp(x) - 1) / x; up to 0.5 what is left out is below 1e-9 of it.
_EXPM1 = tuple(1 / math.factorial(k + 1) for k in range(9))


class Unary(Struct, frozen=True):
    """One function of one operand."""

    write: Callable[[Builder, Value], Value]
    model: Callable[[Array], Any]


class Binary(Struct, frozen=True):
    """One function of two operands."""

    write: Callable[[Builder, Value, Value], Value]
    model: Callable[[Array, Array], Any]


def _expm1(build: Builder, x: Value) -> Value:
    low = clipped(build, x, -0.5, 0.5)
    near = build.Mul(low, polynomial(build, low, _EXPM1))
    return build.Where(build.Less(build.Abs(x), 0.5), near, build.Sub(build.Exp(x), 1.0))


def _sinc(build: Builder, x: Value) -> Value:
    angle = build.Mul(x, math.pi)
    quotient = build.Div(build.Sin(angle), angle)
    # Up to there the quotient is 1 to the last digit.
    tiny = build.Less(build.Abs(x), 1e-5)
    return build.Where(tiny, build.constant(np.array(1, np.float32)), quotient)


def _entr(build: Builder, x: Value) -> Value:
    inside = build.Mul(build.Neg(x), build.Log(clipped(build, x, _SMALLEST, _LARGEST)))
    lowest = build.constant(np.array(-np.inf, np.float32))
    return build.Where(build.Less(x, 0.0), lowest, inside)


def _trunc(build: Builder, x: Value) -> Value:
    return build.Where(build.Less(x, 0.0), build.Neg(build.Floor(build.Neg(x))), build.Floor(x))


def _angle(build: Builder, x: Value) -> Value:
    pi, zero = (build.constant(np.array(n, np.float32)) for n in (math.pi, 0))
    number = build.Or(build.Less(x, 1.0), build.Less(zero, x))
    return build.Where(build.Less(x, 0.0), pi, build.Where(number, zero, x))  # NaN stays


def _angle_model(x: Array) -> Any:
    return np.where(np.isnan(x), x, np.where(x < 0, math.pi, 0.0))


def _copysign(build: Builder, x: Value, sign: Value) -> Value:
    # Only the reciprocal tells the two zeros apart.
    negative = build.Or(build.Less(sign, 0.0), build.Less(build.Reciprocal(sign), 0.0))
    size = build.Abs(x)
    return build.Where(negative, build.Neg(size), size)


def _xlogy(build: Builder, x: Value, y: Value) -> Value:
    # 0 where x is 0, unless y is NaN.
    nothing = build.Mul(clipped(build, y, 0.0, 1.0), 0.0)
    some = build.Less(np.float32(0), build.Abs(x))
    product = build.Mul(x, build.Log(y))
    return build.Where(some, product, build.Add(nothing, build.Mul(x, 0.0)))


def _hypot(build: Builder, x: Value, y: Value) -> Value:
    a, b = build.Abs(x), build.Abs(y)
    large = build.Max(a, b)
    small = clipped(build, build.Min(a, b), 0.0, _LARGEST)
    share = build.Div(small, build.Max(large, np.float32(_SMALLEST)))
    return build.Mul(large, build.Sqrt(build.Add(build.Mul(share, share), 1.0)))


def _logaddexp(build: Builder, x: Value, y: Value) -> Value:
    # Infinities of one sign have no difference.
    a, b = (clipped(build, v, -_LARGEST, _LARGEST) for v in (x, y))
    away = build.Neg(build.Abs(build.Sub(a, b)))
    return build.Add(build.Max(x, y), build.Log(build.Add(build.Exp(away), 1.0)))


def _entr_model(x: Array) -> Any:
    inside = -x * np.log(np.maximum(x, np.finfo(np.float64).tiny))
    return np.where(x < 0, -np.inf, inside)


def _xlogy_model(x: Array, y: Array) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))


def _sinc_model(x: Array) -> Any:
    angle = x * x.dtype.type(math.pi)
    wide = np.where(angle == 0, 1.0, angle.astype(np.float64))
    return np.where(angle == 0, 1.0, np.sin(wide) / wide)


UNARY = {
    "sinh": Unary(lambda build, x: build.Sinh(x), np.sinh),
    "cosh": Unary(lambda build, x: build.Cosh(x), np.cosh),
    "asinh": Unary(lambda build, x: build.Asinh(x), np.arcsinh),
    "acosh": Unary(lambda build, x: build.Acosh(x), np.arccosh),
    "atanh": Unary(lambda build, x: build.Atanh(x), np.arctanh),
    "expm1": Unary(_expm1, np.expm1),
    "special_expm1": Unary(_expm1, np.expm1),
    "sinc": Unary(_sinc, _sinc_model),
    "special_sinc": Unary(_sinc, _sinc_model),
    "special_entr": Unary(_entr, _entr_model),
    "deg2rad": Unary(lambda build, x: build.Mul(x, math.pi / 180), np.deg2rad),
    "rad2deg": Unary(lambda build, x: build.Mul(x, 180 / math.pi), np.rad2deg),
    "trunc": Unary(_trunc, np.trunc),
    "fix": Unary(_trunc, np.trunc),
    "angle": Unary(_angle, _angle_model),
    "frac": Unary(lambda build, x: build.Sub(x, _trunc(build, x)), lambda x: x - np.trunc(x)),
}
BINARY = {
    "copysign": Binary(_copysign, np.copysign),
    "xlogy": Binary(_xlogy, _xlogy_model),
    "special_xlogy": Binary(_xlogy, _xlogy_model),
    "hypot": Binary(_hypot, np.hypot),
    "logaddexp": Binary(_logaddexp, np.logaddexp),
}
EXACT_ONES = frozenset({"trunc", "fix", "frac", "copysign", "angle"})
