"""Cut off by Slice what a Pad with negative pads cuts off.

What it does: Slices the input by what is negative, and pads by the rest, if there is any.
Why engines need it: TensorRT refuses negative pads, MNN cuts at the wrong end, and tract ends the
    process.
Before: y = Pad (x, [-1, 0, 0, 2])
After: y = Pad (Slice (x, [1], [2^63 - 1], [0]), [0, 0, 0, 2])
When it refuses: Pads are computed or name their axes, none is negative, or an axis is cut so far
    that what the padding repeats at its other end may be gone.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Pad.html; measured on MNN 3.6.1 and tract 0.23.9
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_LAST = np.iinfo(np.int64).max
_INPUTS = 11  # the first opset whose pads are an input


@rewrite("Pad", removes="form:Pad.negative attr:Pad.negative", emits="Pad Slice", since=2)
def pad_negative_to_slice(node: NodeView, build: Builder) -> Value:
    """Slice and pad, see the module."""
    x, value = node.need(0), node.input(2)
    if node.input(3) is not None:
        raise Refuse("the pads must be those of all axes; axes are named")
    if build.opset < _INPUTS:
        pads = np.array(node.attr("pads"), np.int64)
    else:
        pads = build.need_const(node.input(1), "the pads").astype(np.int64)
    if not (pads < 0).any():
        raise Refuse("a pad must be negative; none is")
    before, after = np.split(pads, 2)
    mode = node.attr("mode", "constant")
    axes = np.flatnonzero((before < 0) | (after < 0))
    sizes = [x.dim(int(axis)) for axis in axes]
    for axis, size in zip(axes, sizes, strict=True):
        cut = -min(before[axis], 0) - min(after[axis], 0)
        if size is None or cut > size:
            raise Refuse(f"axis {axis} must be known to be as long as what is cut off")
        _need_same_repeats(mode, max(before[axis], after[axis], 0), size - cut)
    starts = -np.minimum(before[axes], 0)
    ends = np.where(after[axes] < 0, after[axes], _LAST)
    cut_off = build.Slice(x, starts=starts, ends=ends, axes=axes.astype(np.int64))
    rest = np.maximum(pads, 0)
    if not rest.any():
        return cut_off
    if build.opset < _INPUTS:
        return build.Pad(cut_off, mode=mode, pads=rest.tolist(), value=node.attr("value", 0.0))
    operands = [cut_off, rest] if value is None else [cut_off, rest, value]
    return build.Pad(*operands, mode=mode)


def _need_same_repeats(mode: str, padded: int, left: int) -> None:
    """Check that an axis repeats the same elements whether it is cut before or after.

    Raises:
        Refuse: What is repeated may be cut off at the other end.
    """
    needed = {"constant": 0, "edge": 1, "reflect": padded + 1}.get(mode)
    if padded and (needed is None or left < needed):
        raise Refuse(f"an axis that is cut must keep what mode {mode} repeats; one does not")
