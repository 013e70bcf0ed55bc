"""Small expressions that the polynomials of several ATen operators are made of."""

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Builder, Value


def clipped(build: Builder, x: Value, low: float, high: float) -> Value:
    """Return `x` held between two bounds, which are attributes before opset 11."""
    if build.opset < 11:
        return build.Clip(x, min=low, max=high)
    return build.Clip(x, min=np.float32(low), max=np.float32(high))


def polynomial(build: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """Return a polynomial by Horner's rule, the lowest power first; two coefficients or more."""
    total: Value | None = None
    for number in reversed(coefficients[:-1]):
        product = build.Mul(x, coefficients[-1] if total is None else total)
        total = build.Add(product, number)
    assert total is not None  # there are several coefficients
    return total
