"""Fuse the arithmetic of HardSwish into one node.

What it does: Replaces x * HardSigmoid(x) with alpha 1/6 and beta 1/2, and x * clip(x + 3, 0, 6) / 6
    in any order of its products, by HardSwish. It runs only when it is named.
Why engines need it: One kernel instead of two to four, in every block of MobileNetV3.
Before: y = Mul (x, HardSigmoid <alpha = 0.16666667> (x))
After: y = HardSwish (x)
When it refuses: Below opset 14. Other values, and inner values with other readers, are no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__HardSwish.html; what PyTorch 2.13 writes at opset
    13
"""

from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite

from ._fused import fused


def _is_sixth(alpha: object) -> bool:
    """Say whether a float32 attribute is 1/6, or one of the two numbers next to the nearest."""
    return isinstance(alpha, float) and abs(alpha - 1 / 6) < 3e-8


@rewrite.pattern
def _gated(find: Find, x: Sought) -> Sought:
    relu6 = find.Clip(x + 3, 0, 6)
    sixth = 1 / 6
    return find.either(
        x * find.HardSigmoid(x, alpha=_is_sixth, beta=0.5),
        x * find.either(relu6 / 6, relu6 * sixth),
        find.either((x * relu6) / 6, (x * relu6) * sixth),
        find.either(x / 6, x * sixth) * relu6,
    )


@rewrite(_gated, emits="HardSwish", stage=NAMED)
def hardswish_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    return fused(build, "HardSwish", 14, match["x"])
