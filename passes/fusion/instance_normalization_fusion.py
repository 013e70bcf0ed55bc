"""Fuse the arithmetic of instance normalization into one node.

What it does: Replaces (x - mean) / sqrt(variance + epsilon), with means over all axes after the
    channels, times a scale by channel where one follows, by InstanceNormalization without a bias.
    It runs only when it is named.
Why engines need it: One kernel instead of nine; in float16 the sum of squares of the parts
    overflows.
Before:
    d = Sub (x, ReduceMean <axes = [2, 3]> (x))
    v = ReduceMean <axes = [2, 3]> (Mul (d, d))
    y = Mul (Div (d, Sqrt (Add (v, 1e-5))), scale)
After: y = InstanceNormalization <epsilon = 1e-05> (x, scale, zeros)
When it refuses: Means over other axes; a number of channels that is not known; a scale that is not
    one constant number for each channel; an epsilon of float64 that no float32 is equal to.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
    A bias that follows stays after the node: kernels compute x * f + (bias - mean * f), as
    onnxruntime 1.32 does, and lose the bias where f is large.
References: https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html
"""

import numpy as np

from graphfix.authoring import NAMED, Builder, Find, Match, Refuse, Sought, Value, rewrite

from ._fused import deviating, fused, held
from ._shapes import by_channel


@rewrite.pattern
def _normalized(find: Find, x: Sought, axes: Sought, eps: Sought, scale: Sought) -> Sought:
    y = deviating(find, x, axes, eps)
    return find.either(y * find.constant(scale), y)


@rewrite(_normalized, emits="InstanceNormalization", stage=NAMED)
def instance_normalization_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    x = match["x"]
    axes, rank = match.attribute("axes"), x.rank
    if rank is None or rank < 3 or axes != list(range(2, rank)):
        raise Refuse(f"the means must be over all axes after the channels; they are over {axes}")
    scale = by_channel(match, "scale", x, 1)
    zeros, epsilon = np.zeros_like(scale), held(x, match.number("eps"))
    return fused(build, "InstanceNormalization", 6, x, scale, zeros, epsilon=epsilon)
