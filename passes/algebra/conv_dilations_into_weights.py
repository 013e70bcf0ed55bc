"""Spread the weights of a dilated convolution instead of its window.

What it does: Puts the zeros between the weights that dilations leave out, and leaves the dilations
    out.
Why engines need it: MNN computes a convolution over three dimensions otherwise that is dilated
    along the first.
Before: y = Conv <dilations = [2, 1, 1], kernel_shape = [2, 1, 1]> (x, w)       # w: {1, 2}
After: y = Conv <kernel_shape = [3, 1, 1]> (x, w)                              # w: {1, 0, 2}
When it refuses: No dilations above 1, or weights that are not constant or would have more than 2^24
    numbers.
Accuracy: Exact up to the order of summation; where the input holds infinities or NaN, what is added
    as zero times it is NaN.
References: https://onnx.ai/onnx/operators/onnx__Conv.html, onnx__ConvTranspose.html; measured on
    MNN 3.6.1
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_MOST = 2**24


@rewrite(
    ("Conv", "ConvTranspose"),
    removes="attr:Conv.dilations attr:ConvTranspose.dilations",
    emits="Conv ConvTranspose",
)
def conv_dilations_into_weights(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Spread the weights, see the module."""
    dilations = [int(step) for step in node.attr("dilations", ())]
    if all(step == 1 for step in dilations):
        raise Refuse("a dilation must be above 1; none is")
    if str(node.attr("auto_pad", "NOTSET")).startswith("SAME"):
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    weights = build.need_const(node.need(1), "the weights")
    window = [
        step * (size - 1) + 1 for step, size in zip(dilations, weights.shape[2:], strict=True)
    ]
    shape = [*weights.shape[:2], *window]
    count = prod(shape)
    if count > _MOST:
        raise Refuse(f"the weights must have at most {_MOST} numbers; they would have {count}")
    spread = np.zeros(shape, weights.dtype)
    spread[(slice(None), slice(None), *(slice(None, None, step) for step in dilations))] = weights
    return respell(node, build, W=spread, kernel_shape=window, drop=("dilations",))
