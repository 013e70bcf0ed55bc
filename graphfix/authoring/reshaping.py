"""Reshape to sizes that are computed, of which any may be 0.

Reshape reads a 0 as "copy the size of this axis" (below opset 14 always, and in engines beyond it).
So the data is first given a 0 at each place where the sizes have one; what is not empty passes
unchanged.

References: https://onnx.ai/onnx/operators/onnx__Reshape.html
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.ir.views import Value

EMITS = "Equal Expand Reshape Where"


def reshaped(x: Value, sizes: Value, build: Builder) -> Value:
    """Give a tensor other sizes.

    Args:
        x: The tensor.
        sizes: int64 [rank of the result]; a 0 means 0.
        build: The builder.
    """
    known = build.const(sizes)
    if known is not None and 0 not in known:
        return build.Reshape(x, sizes)
    zero, one = np.array(0, dtype=np.int64), np.array(1, dtype=np.int64)
    flat = x if x.rank == 1 else build.Reshape(x, [-1])
    marks = build.Where(build.Equal(sizes, zero), zero, one)
    return build.Reshape(build.Expand(flat, marks), sizes)
