"""Fuse x * sigmoid(alpha * x) into one node.

What it does: Replaces the two or three nodes by Swish. It runs only when it is named. With the
    option contrib, QuickGelu of com.microsoft is emitted below opset 24; it has the same
    definition.
Why engines need it: One kernel instead of two or three, in every block of EfficientNet, YOLO and
    Llama.
Before: y = Mul (x, Sigmoid (x))
After: y = Swish <alpha = 1.0> (x)
When it refuses: Below opset 24 without the option contrib. Where the sigmoid has another reader it
    is no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__Swish.html; microsoft/onnxruntime
    docs/ContribOperators.md, com.microsoft.QuickGelu
"""

from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite

from ._fused import CONTRIB, fused


@rewrite.pattern
def _gated(find: Find, x: Sought, alpha: Sought) -> Sought:
    return x * find.Sigmoid(find.either(x * find.number(alpha), x))


@rewrite(_gated, emits="Swish com.microsoft::QuickGelu", stage=NAMED, options=CONTRIB)
def swish_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    alpha = match.number("alpha") if match.has("alpha") else 1.0
    return fused(build, "Swish", 24, match["x"], contrib="QuickGelu", alpha=alpha)
