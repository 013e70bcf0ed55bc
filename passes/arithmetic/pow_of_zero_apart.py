"""Raise the root of a number, and a little more where it is 0, and multiply by the sign.

What it does: Raises the root of the base, which is 1e-15 at least, to twice the exponent; the
    result is 0 where the base was.
Why engines need it: ncnn computes x^y as exp(y * log(x)), and the logarithm of 0 gives 2.4e38 in
    the end.
Before: y = Pow (x, 0.3)
After: y = Mul (Pow (Max (Sqrt (x), 1e-15), 0.6), Sign (x))
When it refuses: The exponent is no constant above 0, or has integers, with which numbers below
    0 have powers as well; the base is never 0; the type is not float32.
Accuracy: Approximate: exact up to rounding for 0 and from 1e-30 on, and between them the power of
    1e-30; NaN below 0, as it was.
References: https://onnx.ai/onnx/operators/onnx__Pow.html; src/layer/x86/x86_usability.h of
    Tencent/ncnn
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, need_type, rewrite

_LEAST = 1e-15


@rewrite(
    "Pow",
    removes="form:Pow.negative form:Pow.zero",
    emits="Max Mul Pow Sign Sqrt",
    accuracy=APPROXIMATE,
    since=9,
)
def pow_of_zero_apart(node: NodeView, build: Builder) -> Value:
    """Keep 0 out of the power, see the module."""
    x, exponent = node.need(0), build.need_const(node.need(1), "the exponent")
    need_type(x, (TensorProto.FLOAT,))
    if not bool(((exponent > 0) & (exponent % 1 != 0)).all()):
        raise Refuse(
            f"exponents must be above 0, and not integers; one is {float(exponent.min()):g}"
        )
    maker = x.producer
    least = build.const(maker.input(1)) if maker is not None and maker.op == "Max" else None
    if least is not None and bool((least > 0).all()):
        raise Refuse("the base must be one that can be 0; it is larger than a constant")
    root = build.Max(build.Sqrt(x), build.constant(np.array(_LEAST, np.float32)))
    power = build.Pow(root, build.constant((2 * exponent).astype(np.float32)))
    return build.Mul(power, build.Sign(x))
