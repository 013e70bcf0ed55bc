"""Fuse the arithmetic of RMS normalization into one node.

What it does: Replaces x / sqrt(mean(x * x) + epsilon) * scale by RMSNormalization. The square may
    be a product or a power, the root a power or a reciprocal. It runs only when it is named.
Why engines need it: One kernel instead of seven; in float16 the sum of squares of the parts
    overflows.
Before:
    v = ReduceMean (Pow (x, 2))
    y = Mul (Mul (x, Reciprocal (Sqrt (Add (v, 1e-6)))), scale)
After: y = RMSNormalization <axis = -1, epsilon = 1e-06> (x, scale)
When it refuses: Below opset 23; means over other axes than the last ones; sizes along these that
    are not known; an epsilon of float64 that no float32 is equal to. A scale that is computed, or
    of another shape than these sizes, stays as a node.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__RMSNormalization.html; what PyTorch 2.13 writes
"""

import numpy as np

from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite

from ._fused import fused, held, over_root, squared
from ._shapes import last_sizes, row_of


@rewrite.pattern
def _normalized(find: Find, x: Sought, axes: Sought, eps: Sought, scale: Sought) -> Sought:
    square = find.ReduceMean(squared(find, x), axes=axes)
    y = over_root(find, x, square + find.number(eps))
    return find.either(y * find.constant(scale), y)


@rewrite(_normalized, emits="RMSNormalization Mul", stage=NAMED)
def rms_normalization_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    x = match["x"]
    axis, sizes = last_sizes(match)
    scale = match.get("scale")
    row = row_of(scale, sizes)
    given = np.ones(sizes, x.dtype) if row is None else row
    epsilon = held(x, match.number("eps"))
    y = fused(build, "RMSNormalization", 23, x, given, axis=axis, epsilon=epsilon)
    return build.Mul(y, scale) if scale is not None and row is None else y
