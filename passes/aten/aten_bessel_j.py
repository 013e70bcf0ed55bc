"""Replace the Bessel functions J0, J1, Y0, Y1 and the spherical j0 by polynomials.

What it does: Up to 8.5 polynomials, one for each zero of the function, which they have as a factor;
    below the first zero of Y those of what is left without its logarithm. From there on (cos(x) *
    a(1 / x) + sin(x) * b(1 / x)) / sqrt(pi * x) with two more polynomials. Where picks, and the
    branch that is not picked stays finite. The spherical j0 is sin(x) / x.
Why engines need it: ONNX has no such operators, and PyTorch's exporter translates none of them.
Before: y = org.pytorch.aten.ATen <operator = "special_bessel_j0"> (x)
After:
    a = Abs (x)
    near = Where (Less (a, 4), polynomial (a), polynomial (a))
    far = Div (Add (Mul (Cos (a), polynomial (1 / a)), Mul (Sin (a), polynomial (1 / a))), root)
    y = Where (Less (a, 7.1), near, far)
When it refuses: The type is unknown or float64 or bfloat16 (the polynomials have no more digits),
    or the opset is below 9, which brought Where.
Accuracy: Approximate, for every float32 number: measured in onnxruntime, the error is at most 6e-7
    of the value up to the third zero, 4e-7 of sqrt(2 / (pi * x)) beyond it, and below 0.5 6e-7 of
    max(1, value) for Y0. The function of the number that float32 holds is meant: PyTorch itself
    loses 6e-8 * x of it. Y is minus infinity at 0 and NaN below; NaN at infinities, where the
    spherical j0 is 0, as in PyTorch. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/Math.h (bessel_j0_forward and its neighbours); NIST
    Digital Library of Mathematical Functions, 10.8, 10.17 and 10.21 (zeros); the polynomials are
    fits of our own.
"""

import math
from functools import cache, partial

import numpy as np
from msgspec import Struct

from graphfix.authoring import Array, Builder, Value

from ._bessel import bessel_j, bessel_y
from ._emitting import clipped, polynomial
from ._family import Family
from ._fitting import Piece, fitted, one_piece, pieces
from ._special import special

NOTE = "float32: error at most 6e-7 of the value, from the third zero on of sqrt(2 / (pi * x))"
_LARGEST = float(np.finfo(np.float32).max)
_TWO_BY_PI = 2 / math.pi


class Kind(Struct, frozen=True):
    """One function.

    Attributes:
        order: 0 or 1.
        second: Whether it is Y.
        parts: Pieces, each with a zero.
    """

    order: int
    second: bool
    parts: tuple[Piece, ...]

    @property
    def end(self) -> float:
        """Where the pieces end."""
        return self.parts[-1].high

    def model(self, x: Array) -> Array:
        """Compute it."""
        return (bessel_y if self.second else bessel_j)(self.order, x)


KINDS = {
    "special_bessel_j0": Kind(
        0, False, (Piece(0.0, 4.0, 2.404825557695773), Piece(4.0, 7.1, 5.520078110286311))
    ),
    "special_bessel_j1": Kind(
        1,
        False,
        (
            Piece(0.0, 2.5, 0.0),
            Piece(2.5, 5.4, 3.831705970207512),
            Piece(5.4, 8.5, 7.015586669815619),
        ),
    ),
    "special_bessel_y0": Kind(
        0,
        True,
        (
            Piece(0.5, 2.4, 0.8935769662791675),
            Piece(2.4, 5.5, 3.957678419314858),
            Piece(5.5, 8.5, 7.086051060301773),
        ),
    ),
    "special_bessel_y1": Kind(
        1, True, (Piece(1.0, 3.8, 2.197141326031017), Piece(3.8, 7.0, 5.429681040794135))
    ),
}


def _spherical_model(x: Array) -> Array:
    return np.where(np.isinf(x), 0.0, np.where(x == 0, 1.0, np.sin(x) / np.where(x == 0, 1.0, x)))


def _spherical(build: Builder, x: Value) -> Value:
    a = build.Abs(x)
    # Up to there the quotient is 1 to the last digit.
    quotient = build.Div(build.Sin(x), build.Where(build.Less(a, 1e-5), np.float32(1), x))
    inside = build.Where(build.Less(a, 1e-5), np.float32(1), quotient)
    endless = build.Less(np.float32(_LARGEST), a)
    return build.Where(endless, np.float32(0), inside)


def _bessel(build: Builder, x: Value, operator: str) -> Value:
    kind = KINDS[operator]
    a = x if kind.second else build.Abs(x)
    near = pieces(build, a, kind.model, kind.parts)
    if kind.second:
        low = kind.parts[0].low
        near = build.Where(build.Less(a, low), _next_to_zero(build, a, kind, low), near)
    value = build.Where(build.Less(a, kind.end), near, _far(build, a, operator))
    if kind.second:
        # At 0 minus infinity; NaN stays.
        missing = build.Where(build.Less(x, 0.0), np.float32(np.nan), build.Sub(x, np.inf))
        return build.Where(build.Less(np.float32(0), x), value, missing)
    return build.Where(build.Less(x, 0.0), build.Neg(value), value) if kind.order else value


def _next_to_zero(build: Builder, a: Value, kind: Kind, end: float) -> Value:
    """Return Y of small numbers: J * log(x) and what is left."""
    order = kind.order

    def rest(x: Array) -> Array:
        left = bessel_y(order, x) - _TWO_BY_PI * np.log(x) * bessel_j(order, x)
        return (left + _TWO_BY_PI / x) / x if order else left

    j = one_piece(build, a, partial(bessel_j, order), Piece(0.0, end, 0.0 if order else None))
    logarithm = build.Mul(build.Log(clipped(build, a, 0.0, end)), _TWO_BY_PI)
    left = one_piece(build, a, rest, Piece(1e-6, end))
    if not order:
        return build.Add(build.Mul(logarithm, j), left)
    pole = build.Div(np.float32(_TWO_BY_PI), clipped(build, a, 0.0, end))
    return build.Sub(build.Add(build.Mul(logarithm, j), build.Mul(left, a)), pole)


@cache
def _amplitudes(operator: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return polynomials in end / x of what cos(x) and sin(x) are multiplied by."""
    kind = KINDS[operator]

    def both(t: Array) -> tuple[Array, Array]:
        x = kind.end / t
        j, y = bessel_j(kind.order, x), bessel_y(kind.order, x)
        cosine, sine, root = np.cos(x), np.sin(x), np.sqrt(math.pi * x)
        # (J, Y) is (cos, sin) turned by a half or a quarter of pi, P and Q.
        p, q = (j * cosine + y * sine) * root, (y * cosine - j * sine) * root
        return (q, p) if kind.second else (p, -q)

    unit = Piece(0.0, 1.0)
    return fitted(lambda t: both(t)[0], unit), fitted(lambda t: both(t)[1], unit)


def _far(build: Builder, a: Value, operator: str) -> Value:
    high = clipped(build, a, KINDS[operator].end, _LARGEST)
    share = build.Div(np.float32(2 * KINDS[operator].end), high)
    place = build.Sub(share, 1.0)
    cosine, sine = (polynomial(build, place, numbers) for numbers in _amplitudes(operator))
    total = build.Add(build.Mul(build.Cos(a), cosine), build.Mul(build.Sin(a), sine))
    return build.Div(total, build.Mul(build.Sqrt(high), math.sqrt(math.pi)))


FAMILY = Family(
    {
        **{
            name: special(partial(_bessel, operator=name), kind.model, NOTE, "polynomials")
            for name, kind in KINDS.items()
        },
        "special_spherical_bessel_j0": special(_spherical, _spherical_model, NOTE, "polynomials"),
    }
)


aten_bessel_j = FAMILY.replaced(
    __name__,
    emits="Abs Add Cast Clip Cos Div Less Log Mul Neg Sin Sqrt Sub Where",
    claims="nan inf",
)
