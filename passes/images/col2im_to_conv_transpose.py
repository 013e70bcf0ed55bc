"""Replace Col2Im by a transposed convolution.

What it does: Each column becomes a channel, and a ConvTranspose whose filters have a single 1 each
    puts it where it belongs; columns that meet are added up by that.
Why engines need it: TensorRT and most other engines have no Col2Im.
Before: y = Col2Im <strides = [1, 1]> (x, [4, 5], [2, 2])       x: float[N, 12, 12]
After: y = Reshape (ConvTranspose (Reshape (x, [-1, 4, 3, 4]), ones[4, 1, 2, 2]), [-1, 3, 4, 5])
When it refuses: The sizes of image or block are computed at run time, the number of columns or
    channels is unknown, there are more than three axes, or the type is not floating point.
Accuracy: Exact up to the order of summation; where the input holds infinities or NaN, what is added
    as zero times it is NaN.
References: https://onnx.ai/onnx/operators/onnx__Col2Im.html;
    https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
"""

from math import prod

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


def _sizes(node: NodeView, build: Builder, index: int, what: str) -> list[int]:
    return [int(size) for size in build.need_const(node.need(index), what).reshape(-1)]


@rewrite("Col2Im", removes="op:Col2Im", emits="ConvTranspose Reshape")
def col2im_to_conv_transpose(node: NodeView, build: Builder) -> Value:
    """Convolve, see the module."""
    x = node.need(0)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16) or x.dtype is None:
        raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name}")
    image = _sizes(node, build, 1, "the size of the image")
    block = _sizes(node, build, 2, "the size of the block")
    axes = len(image)
    if axes > 3 or len(block) != axes:
        raise Refuse(
            f"the image must have at most 3 axes, and the block as many; they have {axes} and "
            f"{len(block)}"
        )
    strides = [int(s) for s in node.attr("strides") or [1] * axes]
    dilations = [int(d) for d in node.attr("dilations") or [1] * axes]
    pads = [int(p) for p in node.attr("pads") or [0] * (2 * axes)]
    spans = [d * (k - 1) + 1 for d, k in zip(dilations, block, strict=True)]
    rooms = [image[k] + pads[k] + pads[k + axes] - spans[k] for k in range(axes)]
    counts = [room // step + 1 for room, step in zip(rooms, strides, strict=True)]
    rows = prod(block)
    if x.rank != 3 or x.dim(2) != prod(counts) or min(rooms) < 0:
        raise Refuse(f"the number of columns of {x.name} must be known and fit the windows")
    channels = (x.dim(1) or 0) // rows
    if not channels:
        raise Refuse(f"the number of channels of {x.name} must be known")
    filters = np.eye(rows, dtype=x.dtype).reshape(rows, 1, *block)
    grid = build.ConvTranspose(
        build.Reshape(x, [-1, rows, *counts]),
        filters,
        kernel_shape=block,
        strides=strides,
        dilations=dilations,
        pads=pads,
        output_padding=[room % step for room, step in zip(rooms, strides, strict=True)],
    )
    return build.Reshape(grid, [-1, channels, *image])
