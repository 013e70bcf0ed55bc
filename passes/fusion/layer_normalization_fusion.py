"""Fuse the arithmetic of layer normalization into one node.

What it does: Replaces (x - mean) / sqrt(variance + epsilon), times a scale and plus a bias where
    they follow, by LayerNormalization. The square may be a product or a power, the root a power or
    a reciprocal. It runs only when it is named.
Why engines need it: One kernel instead of nine; in float16 the sum of squares of the parts
    overflows, and TensorRT warns of just that unless it finds the operator.
Before:
    d = Sub (x, ReduceMean (x))
    v = ReduceMean (Mul (d, d))
    y = Add (Mul (Div (d, Sqrt (Add (v, 1e-5))), scale), bias)
After: y = LayerNormalization <axis = -1, epsilon = 1e-05> (x, scale, bias)
When it refuses: Below opset 17; means over other axes than the last ones; sizes along these that
    are not known; an epsilon of float64 that no float32 is equal to. A scale or a bias that is
    computed, or of another shape than these sizes, stays as a node.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__LayerNormalization.html; what PyTorch 2.13 writes
    at opset 13, and for the definition written by hand
"""

import numpy as np

from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite

from ._fused import deviating, fused, held
from ._shapes import last_sizes, row_of


@rewrite.pattern
def _normalized(
    find: Find, x: Sought, axes: Sought, eps: Sought, scale: Sought, bias: Sought
) -> Sought:
    y = deviating(find, x, axes, eps)
    scaled = y * find.constant(scale)
    return find.either(scaled + find.constant(bias), scaled, y + find.constant(bias), y)


@rewrite(_normalized, emits="LayerNormalization Mul Add", stage=NAMED)
def layer_normalization_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    x = match["x"]
    axis, sizes = last_sizes(match)
    scale, bias = match.get("scale"), match.get("bias")
    row, inner = row_of(scale, sizes), row_of(bias, sizes)
    if scale is not None and row is None:
        inner = None  # the scale stays after the node, and so does what is added to it
    given = np.ones(sizes, x.dtype) if row is None else row
    epsilon = held(x, match.number("eps"))
    y = fused(build, "LayerNormalization", 17, x, given, inner, axis=axis, epsilon=epsilon)
    if scale is not None and row is None:
        y = build.Mul(y, scale)
    return build.Add(y, bias) if bias is not None and inner is None else y
