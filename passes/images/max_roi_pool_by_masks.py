"""Replace MaxRoiPool with computed regions by maxima over masks.

What it does: Works out where each bin begins and ends along both axes, and takes the largest number
    of each bin, first along the width, then along the height: what lies outside of the bin is the
    least float32 there. A bin of no pixels gives 0.
Why engines need it: TensorRT and most other engines have no MaxRoiPool. torch.onnx writes it for
    torchvision.ops.roi_pool.
Before: y = MaxRoiPool <pooled_shape = [2, 2]> (x, regions)
After:
    rows = Where (inside_of_columns, Unsqueeze (Gather (x, image), 3), -3.4e38)
    y = ReduceMax (Where (inside_of_rows, Unsqueeze (ReduceMax (rows, [4]), 2), -3.4e38), [3])
When it refuses: The regions are a constant, which is `max-roi-pool-to-max`; height, width or the
    number of channels is unknown, a region would be masked in more than 2^24 places, or the type is
    not float32.
Accuracy: Exact: numbers are compared and moved. The order of rounding is that of onnxruntime.
References: https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html;
    onnxruntime/core/providers/cpu/object_detection/roi_pool.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

_MOST = 2**24


@rewrite(
    "MaxRoiPool",
    removes="op:MaxRoiPool",
    emits="Abs Add And Cast Ceil Div Floor Gather Less Max Mul Neg Not ReduceMax Sub Unsqueeze "
    "Where",
    since=11,
)
def max_roi_pool_by_masks(node: NodeView, build: Builder) -> Value:
    """Take maxima, see the module."""
    x, regions = node.need(0), node.need(1)
    need_type(x, (TensorProto.FLOAT,))
    if build.const(regions) is not None:
        raise Refuse("the regions must be computed at run time; they are a constant")
    channels, height, width = x.dim(1), x.dim(2), x.dim(3)
    if x.rank != 4 or not channels or not height or not width:
        raise Refuse(f"three sizes of {x.name} must be known, after the batch; it is {x.shape}")
    rows, columns = (int(size) for size in node.attr("pooled_shape"))
    places = channels * height * columns * max(width, rows)
    if places > _MOST:
        raise Refuse(f"a region must be masked in at most {_MOST} places; it would be in {places}")
    scale = float(node.attr("spatial_scale", 1.0))

    def column(index: int) -> Value:
        return build.Gather(regions, np.array([index]), axis=1)

    image = build.Cast(build.Gather(regions, np.array(0), axis=1), to=TensorProto.INT64)
    picked = build.Unsqueeze(build.Gather(x, image, axis=0), axes=[3])
    least = np.array(np.finfo(np.float32).min, np.float32)
    across = _inside(column(1), column(3), scale, columns, width, build)
    along = _inside(column(2), column(4), scale, rows, height, build)
    kept = build.Where(build.Unsqueeze(across, axes=[1, 2]), picked, least)
    widest = build.Unsqueeze(build.ReduceMax(kept, axes=[4], keepdims=0), axes=[2])
    both = build.Where(build.Unsqueeze(along, axes=[1, 4]), widest, least)
    found = build.ReduceMax(both, axes=[3], keepdims=0)
    some = build.And(
        build.Unsqueeze(_any(along, build), axes=[1, 3]),
        build.Unsqueeze(_any(across, build), axes=[1, 2]),
    )
    return build.Where(some, found, np.array(0, np.float32))


def _inside(first: Value, last: Value, scale: float, bins: int, size: int, build: Builder) -> Value:
    """Return whether each pixel is in each bin of each region: bool [regions, bins, size]."""
    start, end = (_nearest(build.Mul(corner, scale), build) for corner in (first, last))
    span = build.Max(build.Add(build.Sub(end, start), 1.0), np.array(1, np.float32))
    step = build.Div(span, float(bins))
    numbers = np.arange(bins, dtype=np.float32)[None]
    low = build.Add(build.Floor(build.Mul(step, numbers)), start)
    high = build.Add(build.Ceil(build.Mul(step, numbers + 1)), start)
    pixels = np.arange(size, dtype=np.float32)
    below = build.Less(build.constant(pixels), build.Unsqueeze(low, axes=[2]))
    return build.And(
        build.Not(below), build.Less(build.constant(pixels), build.Unsqueeze(high, axes=[2]))
    )


def _nearest(number: Value, build: Builder) -> Value:
    """Round as C's round does: halves away from zero."""
    size = build.Abs(number)
    whole = build.Floor(size)
    below = build.Less(build.Sub(size, whole), np.array(0.5, np.float32))
    near = build.Where(below, whole, build.Add(whole, 1.0))
    return build.Where(build.Less(number, np.array(0, np.float32)), build.Neg(near), near)


def _any(inside: Value, build: Builder) -> Value:
    """Return whether a bin has pixels: bool [regions, bins]."""
    counted = build.ReduceMax(build.Cast(inside, to=TensorProto.FLOAT), axes=[2], keepdims=0)
    return build.Less(np.array(0, np.float32), counted)
