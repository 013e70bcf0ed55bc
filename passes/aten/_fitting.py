"""Functions of one variable as polynomials fitted to their numpy models, piece by piece."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from graphfix.authoring import Array, Builder, Value

from ._emitting import clipped, polynomial

# What is left out of a fit, of its largest coefficient: a sixth of what float32 rounds.
_LEFT_OUT = 1e-8
_HIGHEST = 40
Model = Callable[[Array], Array]


class Piece(Struct, frozen=True):
    """An interval on which one polynomial stands for a function.

    Attributes:
        low: Where it begins.
        high: Where it ends.
        zero: A zero of the function in it, which the polynomial is multiplied by, so that the
            error stays small next to the value there.
    """

    low: float
    high: float
    zero: float | None = None


def fitted(model: Model, piece: Piece) -> tuple[float, ...]:
    """Return the coefficients of a Chebyshev interpolant, of powers of -1 to 1, the lowest first.

    Args:
        model: Computes the function in float64.
        piece: Where.
    """
    chebyshev: Any = np.polynomial.chebyshev
    middle, half = (piece.high + piece.low) / 2, (piece.high - piece.low) / 2

    def on(t: Array) -> Array:
        x = middle + half * t
        values = model(x)
        return values if piece.zero is None else values / (x - piece.zero)

    found: Array = chebyshev.chebinterpolate(on, _HIGHEST)
    found = chebyshev.chebtrim(found, _LEFT_OUT * float(np.abs(found).max()))
    powers: Array = chebyshev.cheb2poly(found)
    return tuple(float(number) for number in (*powers, *[0.0] * (2 - len(powers))))


def one_piece(build: Builder, x: Value, model: Model, piece: Piece) -> Value:
    """Return the polynomial of one piece; beyond it, what it is at its ends."""
    held = clipped(build, x, piece.low, piece.high)
    middle, half = (piece.high + piece.low) / 2, (piece.high - piece.low) / 2
    value = polynomial(build, build.Mul(build.Sub(held, middle), 1 / half), fitted(model, piece))
    if piece.zero is None:
        return value
    return build.Mul(_beyond(build, held, piece.zero), value)


def _beyond(build: Builder, x: Value, zero: float) -> Value:
    """Return how far a number is beyond another one, which float32 does not hold."""
    rounded = float(np.float32(zero))
    away = build.Sub(x, rounded) if rounded else x
    return build.Sub(away, zero - rounded) if zero != rounded else away


def pieces(build: Builder, x: Value, model: Model, parts: Sequence[Piece]) -> Value:
    """Return a function by pieces that follow one another."""
    *before, last = parts
    value = one_piece(build, x, model, last)
    for part in reversed(before):
        value = build.Where(build.Less(x, part.high), one_piece(build, x, model, part), value)
    return value
