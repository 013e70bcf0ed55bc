"""Fuse the arithmetic of GELU with erf into one node.

What it does: Replaces 0.5 * x * (1 + erf(x / sqrt(2))) by Gelu, whichever of the products comes
    first. It runs only when it is named. With the option contrib, Gelu of com.microsoft is emitted
    below opset 20.
Why engines need it: One kernel reads and writes the tensor once instead of five times; TensorRT,
    OpenVINO and onnxruntime have such kernels and find less than what they fuse themselves.
Before:
    e = Add (Erf (Div (x, 1.4142135)), 1)
    y = Mul (Mul (x, e), 0.5)
After: y = Gelu (x)
When it refuses: Below opset 20 without the option contrib. Where one of the inner values has
    another reader it is no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__Gelu.html; microsoft/onnxruntime
    docs/ContribOperators.md, com.microsoft.Gelu; what PyTorch 2.13 writes with either exporter
"""

import math

from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite

from ._fused import CONTRIB, fused, halved


@rewrite.pattern
def _by_erf(find: Find, x: Sought) -> Sought:
    inner = find.either(x / math.sqrt(2), x * math.sqrt(0.5))
    return halved(find, x, find.Erf(inner) + 1)


@rewrite(_by_erf, emits="Gelu com.microsoft::Gelu", stage=NAMED, options=CONTRIB)
def gelu_fusion(match: Match, build: Builder) -> Value:
    """Fuse the arithmetic of GELU with erf into one node."""
    return fused(build, "Gelu", 20, match["x"], contrib="Gelu")
