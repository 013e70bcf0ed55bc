"""Take Gelu, BiasGelu and QuickGelu apart.

What it does: Writes com.microsoft::Gelu and BiasGelu as 0.5 x (1 + erf(x / sqrt(2))), and QuickGelu
    as x sigmoid(alpha x).
Why engines need it: They are operators of onnxruntime's optimiser; other engines do not know them.
Before: y = com.microsoft.BiasGelu (x, bias)
After:
    t = Add (x, bias)
    y = Mul (Mul (t, 0.5), Add (Erf (Mul (t, 0.70710678)), 1))
When it refuses: The dtype is unknown or not floating point.
Accuracy: Exact up to rounding; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.Gelu,
    com.microsoft.BiasGelu, com.microsoft.QuickGelu
"""

import math

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._typing import LOW_PRECISION, need_float


@rewrite(
    ("com.microsoft::Gelu", "com.microsoft::BiasGelu", "com.microsoft::QuickGelu"),
    emits="Add Cast Erf Mul Sigmoid",
)
def contrib_gelu_to_erf(node: NodeView, build: Builder) -> Value:
    """Write the arithmetic, see the module."""
    x = node.need(0)
    need_float(x)
    low = x.elem_type in LOW_PRECISION
    t = build.Cast(x, to=TensorProto.FLOAT) if low else x
    if node.op == "QuickGelu":
        alpha = float(node.attr("alpha", 1.702))
        result = build.Mul(t, build.Sigmoid(build.Mul(t, alpha)))
    else:
        if node.op == "BiasGelu":
            bias = node.need(1)
            t = build.Add(t, build.Cast(bias, to=TensorProto.FLOAT) if low else bias)
        share = build.Add(build.Erf(build.Mul(t, math.sqrt(0.5))), 1)
        result = build.Mul(build.Mul(t, 0.5), share)
    return build.Cast(result, to=x.elem_type) if low else result
