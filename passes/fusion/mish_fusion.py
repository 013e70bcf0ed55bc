"""Fuse x * tanh(softplus(x)) into Mish.

What it does: Replaces the three nodes by one. It runs only when it is named.
Why engines need it: One kernel instead of three, in every block of YOLOv4.
Before: y = Mul (x, Tanh (Softplus (x)))
After: y = Mish (x)
When it refuses: Below opset 18. Where an inner value has another reader it is no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__Mish.html
"""

from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite

from ._fused import fused


@rewrite.pattern
def _gated(find: Find, x: Sought) -> Sought:
    return x * find.Tanh(find.Softplus(x))


@rewrite(_gated, emits="Mish", stage=NAMED)
def mish_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    return fused(build, "Mish", 18, match["x"])
