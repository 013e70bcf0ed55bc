"""DeformConv by sampling: GridSample reads where the offsets point, a MatMul weighs what it read.

References: DeformConv-19 in onnx/defs/nn/defs.cc, onnx/reference/ops/op_deform_conv.py: offsets are
in pixels, y before x for each element of the kernel; what lies outside of the image reads 0.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.ir.views import NodeView, Refuse, Value


def _sizes(value: Value, axes: tuple[int, ...], what: str) -> list[int]:
    found = [size for size in (value.dim(axis) for axis in axes) if size is not None]
    if value.rank != 4 or len(found) != len(axes):
        raise Refuse(f"{what} must be an image of known sizes")
    return found


def deform_conv(node: NodeView, build: Builder) -> Value:
    """Compute DeformConv of images.

    Raises:
        Refuse: The input is no image, or a size but the batch's is unknown.
    """
    x, weights, offset = node.need(0), node.need(1), node.need(2)
    bias, mask = node.input(3), node.input(4)
    channels, height, width = _sizes(x, (1, 2, 3), "the input")
    made, inner, rows, columns = _sizes(weights, (0, 1, 2, 3), "the kernel")
    out_height, out_width = _sizes(offset, (2, 3), "the offset")
    if x.dtype is None:
        raise Refuse("the dtype of the input must be known")
    groups, parts = int(node.attr("group", 1)), int(node.attr("offset_group", 1))
    taps, places = rows * columns, out_height * out_width
    moved = build.Reshape(offset, [-1, taps, 2, out_height, out_width])
    at = build.Add(moved, build.constant(_corners(node, offset).astype(x.dtype)))
    # With align_corners 0 the pixel p lies at (2 p + 1) / size - 1, whatever the size.
    scale = np.array([2 / height, 2 / width]).reshape(2, 1, 1).astype(x.dtype)
    shift = np.array([1 / height - 1, 1 / width - 1]).reshape(2, 1, 1).astype(x.dtype)
    normal = build.Add(build.Mul(at, build.constant(scale)), build.constant(shift))
    last = build.Transpose(normal, perm=[0, 1, 3, 4, 2])
    grid = build.Gather(last, build.constant(np.array([1, 0])), axis=-1)
    read = build.GridSample(
        build.Reshape(x, [-1, channels // parts, height, width]),
        build.Reshape(grid, [-1, taps * out_height, out_width, 2]),
        mode="bilinear" if build.opset < 20 else "linear",
        padding_mode="zeros",
        align_corners=0,
    )
    if mask is not None:
        read = build.Mul(read, build.Reshape(mask, [-1, 1, taps * out_height, out_width]))
    columns_ = build.Reshape(read, [-1, groups, inner * taps, places])
    kernel = build.Reshape(weights, [groups, made // groups, inner * taps])
    result = build.Reshape(build.MatMul(kernel, columns_), [-1, made, out_height, out_width])
    return result if bias is None else build.Add(result, build.Reshape(bias, [-1, 1, 1]))


def _corners(node: NodeView, offset: Value) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return where each element of the kernel lies without offset: [taps, 2, height, width]."""
    rows, columns = _sizes(node.need(1), (2, 3), "the kernel")
    strides = node.attr("strides", [1, 1])
    dilations = node.attr("dilations", [1, 1])
    pads = node.attr("pads", [0, 0, 0, 0])
    height, width = _sizes(offset, (2, 3), "the offset")
    down = np.arange(height) * strides[0] - pads[0]
    right = np.arange(width) * strides[1] - pads[1]
    found = np.zeros((rows, columns, 2, height, width))
    found[:, :, 0] += (np.arange(rows) * dilations[0])[:, None, None, None] + down[:, None]
    found[:, :, 1] += (np.arange(columns) * dilations[1])[:, None, None] + right
    return found.reshape(rows * columns, 2, height, width)
