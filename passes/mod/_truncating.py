"""The float remainder of a truncating division, with the quotient corrected.

The quotient of two floats rounds: ``1.0 / 0.1`` is 10.0, where ``fmod(1.0, 0.1)`` is 0.0999...
So ``a - b * trunc(a / b)`` is off by a whole divisor next to its multiples, and by the rounding of
``b * trunc(a / b)`` elsewhere. Here every step after the division is exact:

- ``q = floor(|a| / |b|)`` is right or one too large, for a rounded division never falls below an
  integer that the true quotient reaches.
- ``q * |b| = p + e`` without error (Dekker's product of two operands that Veltkamp's splitting
  cuts in halves; T. J. Dekker, A floating-point technique for extending the available precision,
  Numer. Math. 18, 1971).
- ``|a| - p`` is exact because the two are within a factor of two (Sterbenz), and less ``e`` it is
  a multiple of the last place of ``b`` below ``2 ** digits`` of them, so it is a float as well.
- A quotient of ``digits`` bits or more leaves a remainder that is smaller by ``2 ** digits``;
  another stage divides that one.
- One too large shows as a negative remainder; adding ``|b|`` is exact.
"""

from typing import Any

import numpy as np

from graphfix.authoring import Builder, Value

SPLITTERS = {"float32": 2**12 + 1, "float64": 2**27 + 1}
DIGITS = {"float32": 24, "float64": 53}


def truncated_remainder(build: Builder, a: Value, b: Value, stages: int) -> Value:
    """Emit ``fmod(a, b)`` as C defines it, for float32 and float64.

    Args:
        build: The builder.
        a: The dividend.
        b: The divisor, of the same dtype.
        stages: Divisions one after the other; each takes another ``DIGITS`` bits of quotient.

    Returns:
        The remainder with the sign of the dividend; NaN where the dividend is infinite or the
        divisor 0, and the dividend itself where the divisor is larger, infinite included.
    """
    splitter = SPLITTERS[a.type_name]
    dividend = build.Abs(a)
    known = build.const(b)
    divisor: Value = build.Abs(b) if known is None else build.constant(np.abs(known))
    high, low = _halves(build, divisor, splitter)
    rest = dividend
    for _ in range(stages):
        quotient = build.Floor(build.Div(rest, divisor))
        q_high, q_low = _halves(build, quotient, splitter)
        product = build.Mul(quotient, divisor)
        error = build.Sub(build.Mul(q_high, high), product)
        error = build.Add(error, build.Mul(q_high, low))
        error = build.Add(error, build.Mul(q_low, high))
        error = build.Add(error, build.Mul(q_low, low))
        rest = build.Sub(build.Sub(rest, product), error)
    rest = build.Where(build.Less(rest, 0.0), build.Add(rest, divisor), rest)
    rest = build.Abs(rest)  # A remainder 0 may have are as -0.
    signed = build.Where(build.Less(a, 0.0), build.Neg(rest), rest)
    return build.Where(build.Less(dividend, divisor), a, signed)


def with_sign_of_divisor(build: Builder, rest: Value, b: Value) -> Value:
    """Emit the remainder with the sign of the divisor from the one with that of the dividend.

    ``rest + b`` where the signs differ, ``rest`` otherwise: what Python's ``%`` and PyTorch's
    remainder do.
    """
    known = build.const(b)
    if known is None:
        one = np.ones((), dtype=b.dtype)
        sign = build.Where(build.Less(b, 0.0), -one, one)
        differs = build.Less(build.Mul(rest, sign), 0.0)
    else:
        differs = differing_signs(build, rest, known)
    return build.Where(differs, build.Add(rest, b), rest)


def differing_signs(build: Builder, rest: Value, divisor: np.ndarray[Any, Any]) -> Value:
    """Emit where `rest` is not 0 and has another sign than the constant `divisor`."""
    negative = divisor < 0
    if not negative.any():
        return build.Less(rest, 0)
    zero = np.zeros((), dtype=divisor.dtype)
    if negative.all():
        return build.Less(zero, rest)
    signs = np.where(negative, -1, 1).astype(divisor.dtype)
    return build.Less(build.Mul(rest, signs), 0)


def _halves(build: Builder, value: Value, splitter: int) -> tuple[Value, Value]:
    known = build.const(value)
    if known is not None:
        upper = _upper_half(known, splitter)
        with np.errstate(invalid="ignore"):
            return build.constant(upper), build.constant(known - upper)
    spread = build.Mul(value, float(splitter))
    high = build.Sub(spread, build.Sub(spread, value))
    return high, build.Sub(value, high)


def _upper_half(array: np.ndarray[Any, Any], splitter: int) -> np.ndarray[Any, Any]:
    """Return the upper half of the digits, also where multiplying by the splitter overflows."""
    fraction, exponent = np.frexp(array)
    with np.errstate(invalid="ignore"):
        spread = fraction * array.dtype.type(splitter)
        half: np.ndarray[Any, Any] = np.ldexp(spread - (spread - fraction), exponent)
    return half.astype(array.dtype)
