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

from graphfix.authoring import Builder, NodeView, Value, rewrite

from . import _gelu as gelu
from ._means import like, wide
from ._typing import need_float


@rewrite(
    ("com.microsoft::Gelu", "com.microsoft::BiasGelu", "com.microsoft::QuickGelu"),
    emits="Add Cast Erf Mul Sigmoid",
)
def contrib_gelu_to_erf(node: NodeView, build: Builder) -> Value:
    """Write the arithmetic, see the module."""
    x = node.need(0)
    need_float(x)
    t = wide(build, x)
    if node.op == "QuickGelu":
        alpha = float(node.attr("alpha", 1.702))
        return like(build, x, build.Mul(t, build.Sigmoid(build.Mul(t, alpha))))
    if node.op == "BiasGelu":
        t = build.Add(t, wide(build, node.need(1)))
    return like(build, x, gelu.by_erf(build, t))
