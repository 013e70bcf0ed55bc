"""Replace the logarithm of the gamma function by polynomials and Stirling's series.

What it does: From 8 on Stirling's series with three terms, below three polynomials for parts of the
    axis (those around 1 and 2 times the distance from the zero there), and below 0.5 the reflection
    log(pi / abs(sin(pi * x))) - lgamma(1 - x). Where picks; unused branches stay finite.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node.
Before: y = org.pytorch.aten.ATen <operator = "lgamma"> (x)
After:
    a = Mul (Sub (z, 1), polynomial (Min (z, 1.5) - 1))
    b = Mul (Sub (z, 2), polynomial (Max (Min (z, 3.5), 1.5) - 2.5))
    ...
    y = Where (Less (z, 1.5), a, Where (Less (z, 3.5), b, ...))
When it refuses: The type is unknown or float64 or bfloat16 (the polynomials have no more digits),
    or the opset is below 9, which brought Where.
Accuracy: Approximate, for every float32 number: measured in onnxruntime, the error is at most 5e-7
    of the value from 0.5 on, zeros at 1 and 2 included, and at most 2e-6 of max(1, value) between
    -1e5 and 0.5, near the zeros of negative numbers too. Infinity at 0 and the negative integers,
    and where the value is beyond float32, as in PyTorch. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/UnaryOps.cpp (lgamma); NIST Digital Library of
    Mathematical Functions, 5.5.3 (reflection) and 5.11.1 (Stirling).
"""

from typing import Any

import numpy as np

from ._arguments import ArrayCall
from ._family import Family, Function
from ._gamma import lgamma, lgamma_of
from ._special import SCHEMA, in_floats, like_self, written

NOTE = (
    "float32: error at most 5e-7 of the value from 0.5 on, at most 2e-6 of max(1, value) from "
    "-1e5 to 0.5"
)


def _model(call: ArrayCall) -> Any:
    """Use the standard library, in float64."""
    x = in_floats(call.need("self"))
    values = lgamma_of(x)
    values[np.abs(values) > np.finfo(x.dtype).max] = np.inf
    return values.astype(x.dtype)


_LGAMMA = Function(SCHEMA, written(lgamma, "polynomials"), _model, NOTE, infer=like_self)
FAMILY = Family({"lgamma": _LGAMMA, "special_gammaln": _LGAMMA})


aten_lgamma = FAMILY.replaced(
    __name__, emits="Abs Add Cast Clip Div Floor Less Log Mul Sin Sub Where"
)
