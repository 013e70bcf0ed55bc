"""Take CropAndResize apart.

What it does: Works out the rows and columns at which each box is sampled, turns them into matrices
    of shares (two neighbours for bilinear, the nearest one else), and multiplies the image of each
    box by both. What lies outside of the image gets extrapolation_value.
Why engines need it: It is TensorFlow's operator as onnxruntime has it; other engines do not know
    it.
Before: y = com.microsoft.CropAndResize <mode = "bilinear"> (x, boxes, batch, [h, w])
After:
    row = y1 (H - 1) + i (y2 - y1) (H - 1) / (h - 1)
    share = Relu (Sub (1, Abs (Sub (row, [0, 1, ..., H - 1]))))            # [boxes, h, H]
    s = MatMul (MatMul (share of rows, Gather (x, batch)), Transpose (share of columns))
    y = Where (inside, s, extrapolation_value)
When it refuses: The size of a crop is computed at run time, the rank is not 4, or the dtype is not
    float32.
Accuracy: Exact up to the order of summation. A number of the image that is infinite or not a number
    reaches every pixel of its row and column.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.CropAndResize;
    onnxruntime/contrib_ops/cpu/crop_and_resize.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Size,
    Value,
    counted,
    rewrite,
    size_of,
)

_NAME = "com.microsoft::CropAndResize"


@rewrite(
    _NAME,
    emits=(
        "Abs Add And Cast Concat Floor Gather Less MatMul Mul Not Or Range Relu Reshape Shape "
        "Split Sub Transpose Unsqueeze Where"
    ),
)
def crop_and_resize_to_matmul(node: NodeView, build: Builder) -> Value:
    """Sample by products, see the module."""
    x, boxes = node.need(0), node.need(1)
    mode = str(node.attr("mode", "bilinear"))
    if x.rank != 4 or x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"{x.name} must be float32 of rank 4; it is {x.type_name} of rank {x.rank}")
    if mode not in ("bilinear", "nearest"):
        raise Refuse(f"the mode must be bilinear or nearest; it is {mode}")
    crop = [int(n) for n in build.need_const(node.need(3), "the size of a crop").reshape(-1)]
    if len(crop) != 2 or min(crop) < 1:
        raise Refuse(f"the size of a crop must be two positive numbers; it is {crop}")
    corners = build.multi("Split", boxes, outputs=4, axis=1, split=[1, 1, 1, 1])
    shares: list[Value] = []
    inside: list[Value] = []
    for axis in (0, 1):
        ends = (corners[axis], corners[axis + 2])
        share, known = _sampled(build, x, axis + 2, ends, crop[axis], near=mode == "nearest")
        shares.append(build.Unsqueeze(share, axes=[1]))
        inside.append(build.Unsqueeze(known, axes=[1, 3 - axis]))
    images = build.Gather(x, node.need(2), axis=0)
    rows = build.MatMul(shares[0], images)
    sampled = build.MatMul(rows, build.Transpose(shares[1], perm=[0, 1, 3, 2]))
    outside = np.array(float(node.attr("extrapolation_value", 0.0)), np.float32)
    return build.Where(build.And(*inside), sampled, outside)


def _sampled(
    build: Builder, x: Value, axis: int, ends: tuple[Value, Value], count: int, *, near: bool
) -> tuple[Value, Value]:
    """Return shares [boxes, count, size] of what is sampled along an axis, and what is inside."""
    size = size_of(x, axis, build)
    last = _last(build, size)
    start, end = ends
    if count == 1:
        place = build.Mul(build.Mul(build.Add(start, end), 0.5), last)
    else:
        # The ends are taken as they are: rounding must not push them out of the image.
        first, final = build.Mul(start, last), build.Mul(end, last)
        parts = [first, final]
        if count > 2:
            steps = np.arange(1, count - 1, dtype=np.float32)[None, :]
            width = build.Mul(build.Sub(end, start), last)
            step = build.Mul(width, np.float32(1) / np.float32(count - 1))
            parts.insert(1, build.Add(first, build.Mul(step, steps)))
        place = build.Concat(*parts, axis=1)
    outside = build.Or(build.Less(place, 0.0), build.Less(last, place))
    spot = build.Floor(build.Add(place, 0.5)) if near else place
    columns = build.Cast(counted(x, axis, build), to=TensorProto.FLOAT)
    away = build.Sub(build.Unsqueeze(spot, axes=[2]), build.Reshape(columns, np.array([1, 1, -1])))
    return build.Relu(build.Sub(np.float32(1), build.Abs(away))), build.Not(outside)


def _last(build: Builder, size: Size) -> Value:
    if isinstance(size, int):
        return build.constant(np.array(size - 1, np.float32))
    return build.Sub(build.Cast(size, to=TensorProto.FLOAT), 1.0)
