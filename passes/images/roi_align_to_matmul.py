"""Compute RoiAlign as products with matrices of weights.

What it does: The samples of a region lie on a grid, so that what a bin takes of a pixel is what it
    takes of its row times what it takes of its column. Both are written as matrices, [regions,
    bins, rows] and [regions, bins, columns], and each region is their product with the image.
Why engines need it: TensorRT has an importer for RoiAlign from 8.5 on.
Before: y = RoiAlign <sampling_ratio = 2> (x, rois, batch_indices)     x: [N, C, H, W]
After:
    y = MatMul (MatMul (down, Gather (x, batch_indices)), across)
    down: [R, 1, output_height, H], across: [R, 1, W, output_width]
When it refuses: The number of samples depends on the size of the region (sampling_ratio 0), mode is
    max, or the dtype is not float32 or float64.
Accuracy: Exact up to the order of summation, for finite numbers: an infinite one spoils its row.
References: https://onnx.ai/onnx/operators/onnx__RoiAlign.html;
    onnxruntime/core/providers/cpu/object_detection/roialign.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Size, Value, counted, rewrite, size_of


@rewrite(
    "RoiAlign",
    removes="op:RoiAlign",
    emits=(
        "Abs Add And Cast Div Gather Greater Less MatMul Max Min Mul Not Range ReduceMean Reshape "
        "Shape Slice Sub Transpose Unsqueeze Where"
    ),
    since=10,
)
def roi_align_to_matmul(node: NodeView, build: Builder) -> Value:
    """Multiply by what bins take of rows and columns, see the module."""
    x, rois, batch = node.need(0), node.need(1), node.need(2)
    mode = node.attr("mode", "avg")
    if mode != "avg":
        raise Refuse(f"the mode must be avg; it is {mode}")
    if int(node.attr("sampling_ratio", 0)) <= 0:
        raise Refuse(
            "sampling_ratio must be positive; without it the number of samples depends on the "
            "size of the region"
        )
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.DOUBLE) or x.rank != 4:
        raise Refuse(
            f"{x.name} must be float32 or float64 of rank 4; it is {x.type_name} of rank {x.rank}"
        )
    down = build.Unsqueeze(_weights(node, x, rois, 2, build), axes=[1])
    across = build.Unsqueeze(
        build.Transpose(_weights(node, x, rois, 3, build), perm=[0, 2, 1]), axes=[1]
    )
    images = x if x.dim(0) == 1 else build.Gather(x, batch, axis=0)
    return build.MatMul(build.MatMul(down, images), across)


def _weights(node: NodeView, x: Value, rois: Value, axis: int, build: Builder) -> Value:
    """Return what each bin takes of each row (axis 2) or column (axis 3): [R, bins, size]."""
    assert x.dtype is not None
    default = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    given = node.attr("coordinate_transformation_mode", default)
    half = given == "half_pixel"
    bins = int(node.attr("output_height" if axis == 2 else "output_width", 1))
    samples = int(node.attr("sampling_ratio", 0))
    scale = float(np.float32(node.attr("spatial_scale", 1.0)))
    first, last = (_corner(rois, 3 - axis + end, scale, half, build) for end in (0, 2))
    length = build.Sub(last, first)
    if not half:
        length = build.Max(length, np.ones((), dtype=x.dtype))
    width = build.Div(length, bins)
    # In the order in which onnxruntime computes, so that samples at an edge stay where they are.
    places = np.arange(bins, dtype=x.dtype).reshape(bins, 1)
    inside = (np.arange(samples) + 0.5).astype(x.dtype)
    start = build.Add(first, build.Mul(width, places))
    at = build.Add(start, build.Div(build.Mul(width, inside), samples))
    size = size_of(x, axis, build)
    edge = _as_float(size, x, build)
    within = build.And(build.Not(build.Less(at, -1)), build.Not(build.Greater(at, edge)))
    zero = np.zeros((), dtype=x.dtype)
    kept = build.Max(build.Min(at, build.Sub(edge, 1)), zero)
    pixels = _as_float(counted(x, axis, build), x, build)
    away = build.Abs(build.Sub(build.Unsqueeze(kept, axes=[3]), pixels))
    share = build.Max(build.Sub(1, away), zero)
    counting = build.Where(build.Unsqueeze(within, axes=[3]), share, zero)
    return build.ReduceMean(counting, axes=[2], keepdims=0)


def _corner(rois: Value, place: int, scale: float, half: bool, build: Builder) -> Value:
    """Return a coordinate of each region in pixels: [R, 1, 1]."""
    given = build.Slice(rois, starts=[place], ends=[place + 1], axes=[1])
    pixels = build.Mul(build.Reshape(given, [-1, 1, 1]), scale)
    return build.Sub(pixels, 0.5) if half else pixels


def _as_float(number: Size, x: Value, build: Builder) -> Value:
    known = np.array(number) if isinstance(number, int) else build.const(number)
    if known is not None:
        return build.constant(known.astype(x.dtype))
    assert isinstance(number, Value)
    return build.Cast(number, to=x.elem_type)
