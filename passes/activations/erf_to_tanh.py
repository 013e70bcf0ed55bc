"""Compute Erf by the hyperbolic tangent of an odd polynomial.

What it does: Limits x to where erf is not yet 1, scales it, and computes Tanh (x p (x^2)), where p
    is the polynomial of degree 6 for which the largest relative error is least. It is odd, as Erf
    is, and 1 where Erf is 1.
Why engines need it: QNN and other NPUs have Gelu, and no Erf by itself.
Before: y = Erf (x)
After: y = Tanh (Mul (c, p (Mul (t, t)))), where c = Clip (x, -4, 4) and t = Mul (c, 0.25)
When it refuses: The numbers are not float32 or float16.
Accuracy: Within 3e-7 of each result, in float32; in float16 within its rounding.
References: https://onnx.ai/onnx/operators/onnx__Erf.html; the polynomial was fitted to
    atanh (erf (x)) / x by weighted least squares
"""

import numpy as np

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite

_LIMIT = 4.0  # erf is 1 from there on, in float32
# Of (x / 4)^2, the highest power first.
_POLYNOMIAL = (
    2.37993211,
    -5.94387261,
    5.74341466,
    -2.53863996,
    -0.04910858,
    1.64430489,
    1.12837927,
)


@rewrite(
    "Erf",
    removes="op:Erf",
    emits="Add Clip Mul Tanh",
    accuracy=APPROXIMATE,
)
def erf_to_tanh(node: NodeView, build: Builder) -> Value:
    """Evaluate the polynomial, see the module."""
    x = node.need(0)
    if x.type_name not in ("float32", "float16"):
        raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name}")

    def number(value: float) -> np.ndarray:
        return np.array(value, x.dtype)

    limited = build.Clip(x, min=number(-_LIMIT), max=number(_LIMIT))
    scaled = build.Mul(limited, number(1 / _LIMIT))
    square = build.Mul(scaled, scaled)
    highest, *rest = _POLYNOMIAL
    factor = build.Mul(square, number(highest))
    for coefficient in rest[:-1]:
        factor = build.Mul(build.Add(factor, number(coefficient)), square)
    return build.Tanh(build.Mul(build.Add(factor, number(rest[-1])), limited))
