"""Cut off by Slice what a Pad with negative pads cuts off.

What it does:
    Slices the input by what is negative, and pads by the rest, if there is any.

Why engines need it:
    MNN cuts at the wrong end, and tract ends the process.

Before:
    y = Pad (x, [-1, 0, 0, 2])

After:
    y = Pad (Slice (x, [1], [2^63 - 1], [0]), [0, 0, 0, 2])

When it refuses:
    Pads are computed or name their axes, none is negative, or an axis is cut that is padded at its
    other end and whose elements the padding repeats.

Accuracy:
    Exact.

References:
    https://onnx.ai/onnx/operators/onnx__Pad.html; measured on MNN 3.6.1 and tract 0.23.9
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_LAST = np.iinfo(np.int64).max


@rewrite("Pad", removes="form:Pad.negative", emits="Pad Slice", since=11)
def pad_negative_to_slice(node: NodeView, build: Builder) -> Value:
    """Slice and pad, see the module."""
    x, value = node.need(0), node.input(2)
    if node.input(3) is not None:
        raise Refuse("the pads must be those of all axes; axes are named")
    pads = build.need_const(node.input(1), "the pads").astype(np.int64)
    if not (pads < 0).any():
        raise Refuse("a pad must be negative; none is")
    before, after = np.split(pads, 2)
    mode = node.attr("mode", "constant")
    mixed = ((before < 0) & (after > 0)) | ((before > 0) & (after < 0))
    if mode != "constant" and mixed.any():
        raise Refuse(f"an axis that is cut must not be padded as well in mode {mode}; one is")
    axes = np.flatnonzero((before < 0) | (after < 0))
    sizes = [x.dim(int(axis)) for axis in axes]
    for axis, size in zip(axes, sizes, strict=True):
        cut = -min(before[axis], 0) - min(after[axis], 0)
        if size is None or cut > size:
            raise Refuse(f"axis {axis} must be known to be as long as what is cut off")
    starts = -np.minimum(before[axes], 0)
    ends = np.where(after[axes] < 0, after[axes], _LAST)
    cut_off = build.Slice(x, starts, ends, axes.astype(np.int64))
    rest = np.maximum(pads, 0)
    if not rest.any():
        return cut_off
    operands = [cut_off, rest] if value is None else [cut_off, rest, value]
    return build.Pad(*operands, mode=mode)
