"""Quotients and remainders of integers that float32 holds.

All numbers are below 2^24. A quotient of floats is off by less than one, as long as the engine's
division has 22 bits, so that the nearest integer is the quotient or next to it; the product
with it is exact, or so far beyond the dividend that rounding does not bring it back.
"""

from graphfix.authoring import Builder, Value


def divided(build: Builder, over: Value, under: Value) -> Value:
    """Return the whole part of quotients.

    Args:
        build: The builder.
        over: Integers from 0 on, float32.
        under: The same; 0, for which integers have no quotient, counts as 1.
    """
    under = build.Max(under, 1.0)
    near = build.Floor(build.Add(build.Div(over, under), 0.5))
    rest = build.Sub(over, build.Mul(near, under))
    too_large = build.Relu(build.Sign(build.Neg(rest)))
    fits = build.Relu(build.Sign(build.Sub(under, rest)))
    return build.Sub(build.Add(near, build.Sub(1.0, fits)), too_large)


def left_over(build: Builder, over: Value, under: Value) -> Value:
    """Return what is left over of divisions; arguments as for `divided`."""
    return build.Sub(over, build.Mul(divided(build, over, under), under))


def rest_of(build: Builder, first: Value, second: Value, rest: Value) -> Value:
    """Return remainders with the sign of the divisor, as Mod has them.

    Args:
        build: The builder.
        first: The dividends, of any sign.
        second: The divisors, of any sign and not 0.
        rest: What is left over of their sizes.
    """
    opposite = build.Relu(build.Neg(build.Mul(build.Sign(first), build.Sign(second))))
    turned = build.Mul(build.Sign(rest), opposite)
    gap = build.Sub(build.Abs(second), build.Add(rest, rest))
    return product(build, build.Sign(second), build.Add(rest, build.Mul(turned, gap)))


def product(build: Builder, first: Value, second: Value) -> Value:
    """Return a product without -0, which integers do not have: taken off 0, both zeros give 0."""
    return build.Sub(0.0, build.Mul(build.Sub(0.0, first), second))
