"""Fuse the arithmetic of GELU with tanh into one node.

What it does: Replaces 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) by Gelu with
    approximate = tanh, whichever of the products comes first and however the cube is written. It
    runs only when it is named. With the option contrib, FastGelu of com.microsoft is emitted below
    opset 20.
Why engines need it: One kernel reads and writes the tensor once instead of eight or nine times;
    TensorRT, OpenVINO and onnxruntime have such kernels and find less than what they fuse
    themselves.
Before:
    i = Mul (0.7978846, Add (x, Mul (0.044715, Pow (x, 3))))
    y = Mul (x, Mul (0.5, Add (Tanh (i), 1)))
After: y = Gelu <approximate = "tanh"> (x)
When it refuses: Below opset 20 without the option contrib. Where one of the inner values has
    another reader it is no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__Gelu.html; microsoft/onnxruntime
    docs/ContribOperators.md, com.microsoft.FastGelu; what PyTorch 2.13 writes with either exporter
"""

import math

from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite

from ._fused import CONTRIB, fused, halved

_SLOPE = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


@rewrite.pattern
def _by_tanh(find: Find, x: Sought) -> Sought:
    square = find.either(x * x, x**2)
    cubic = find.either(x**3, x * square) * _CUBIC
    bracket = find.either(square * _CUBIC, (x * _CUBIC) * x) + 1
    inner = find.either((x + cubic) * _SLOPE, (x * _SLOPE) * bracket, x * (bracket * _SLOPE))
    return halved(find, x, find.Tanh(inner) + 1)


@rewrite(_by_tanh, emits="Gelu com.microsoft::FastGelu", stage=NAMED, options=CONTRIB)
def gelu_tanh_fusion(match: Match, build: Builder) -> Value:
    """Fuse the arithmetic of GELU with tanh into one node."""
    if build.opset < 20:
        return fused(build, "Gelu", 20, match["x"], contrib="FastGelu")
    return fused(build, "Gelu", 20, match["x"], approximate="tanh")
