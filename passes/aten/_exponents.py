"""Floats taken apart into a mantissa and a power of two, by exact steps alone."""

from collections.abc import Callable

import numpy as np

from graphfix.authoring import Builder, Value

# Powers of two that a number is divided by where it is at least half of them, and multiplied by
# where it is below their inverses: every float32 number ends from 0.5 to 1.
_DOWN = (64, 32, 16, 8, 4, 2, 1, 1)
_UP = (64, 64, 32, 16, 8, 4, 2, 1)


def taken_apart(
    build: Builder, size: Value, start: Value, moved: Callable[[Value, int], Value]
) -> tuple[Value, Value]:
    """Return the mantissas of float32 numbers above 0, and what is made of their exponents.

    Args:
        build: The builder.
        size: The numbers; of others the result says nothing.
        start: What stands for the exponent 0.
        moved: Makes, of what is known of an exponent, what is known of one that is larger by so
            much.
    """
    mantissa, exponent = size, start
    for power in _DOWN:
        least = float(np.nextafter(np.float32(2.0 ** (power - 1)), np.float32(0)))
        far = build.Less(np.float32(least), mantissa)
        exponent = build.Where(far, moved(exponent, power), exponent)
        mantissa = build.Where(far, build.Mul(mantissa, 2.0**-power), mantissa)
    for power in _UP:
        far = build.Less(mantissa, np.float32(2.0**-power))
        exponent = build.Where(far, moved(exponent, -power), exponent)
        mantissa = build.Where(far, build.Mul(mantissa, 2.0**power), mantissa)
    return mantissa, exponent
