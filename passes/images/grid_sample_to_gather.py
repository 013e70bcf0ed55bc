"""Replace GridSample by Gather and arithmetic.

What it does: Works out the coordinates of the pixels that are read, gathers each, and sums them
    with their shares. A frame of zeros stands for what lies outside; border and reflection move the
    coordinates. Any number of spatial axes.
Why engines need it: TensorRT has GridSample from 8.5 on, for images only: volumes (rank 5) are
    refused.
Before: y = GridSample <mode = "bilinear", padding_mode = "border"> (x, grid)
After:
    place = Clip (((grid_x + 1) * W - 1) / 2, 0, W - 1) ...
    y = Transpose (sum of Gather (rows of x, floor (place) or floor (place) + 1) * share)
When it refuses: A rank is unknown, both batches and channels of x are, or one of them is apart from
    a spatial size; reflection at a size that is unknown.
Accuracy: Exact up to the order of summation. float16 and bfloat16 are computed in float32. Infinite
    coordinates read what lies outside, and so do those that are not numbers, where the opset has
    Max of integers (12). Where pixels are summed, one that is NaN or infinite next to a share of 0
    gives NaN, and a coordinate that is not a number may give another result than before.
References: https://onnx.ai/onnx/operators/onnx__GridSample.html; microsoft/onnxruntime
    onnxruntime/core/providers/cpu/tensor/grid_sample.cc
"""

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Sampling,
    Value,
    grid_sampled,
    rewrite,
    sampling,
)

_MODES = {
    "bicubic": "cubic",
    "bilinear": "linear",
    "cubic": "cubic",
    "linear": "linear",
    "nearest": "nearest",
}


@rewrite(
    "GridSample",
    removes="op:GridSample rank:GridSample.* form:GridSample.mode=*"
    " form:GridSample.1* form:GridSample.2* attr:GridSample.*",
    emits=sampling.EMITS,
)
def grid_sample_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather and sum, see the module."""
    mode = str(node.attr("mode", "linear"))
    if mode not in _MODES:
        raise Refuse(f"the mode must be linear, nearest or cubic; it is {mode}")
    how = Sampling(
        _MODES[mode], str(node.attr("padding_mode", "zeros")), bool(node.attr("align_corners", 0))
    )
    if how.padding not in ("zeros", "border", "reflection"):
        raise Refuse(f"the padding must be zeros, border or reflection; it is {how.padding}")
    return grid_sampled(build, node.need(0), node.need(1), how)
