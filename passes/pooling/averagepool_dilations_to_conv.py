"""Average over a dilated kernel by convolution.

What it does: Sums with a depthwise Conv whose weights are ones, and divides by how many elements
    each window counts, a constant.
Why engines need it: TensorRT takes no dilations of AveragePool, and QNN divides what is padded by
    another count.
Before: y = AveragePool <kernel_shape = [2, 2], dilations = [2, 2]> (x)
After:
    s = Conv <group = 3, dilations = [2, 2]> (x, ones)
    y = Div (s, counts)
When it refuses: Channels, spatial sizes or the sizes of the result are unknown, the elements are no
    floats, or auto_pad is used; a window that lies in the padding as a whole; an empty output.
Accuracy: Exact up to the order of summation.
References: https://onnx.ai/onnx/operators/onnx__AveragePool.html; onnx2trt_utils.cpp:1496 of
    onnx-tensorrt, release 8.6
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "AveragePool",
    removes="attr:AveragePool.dilations form:AveragePool.padding",
    emits="Conv Div",
    since=7,
)
def averagepool_dilations_to_conv(node: NodeView, build: Builder) -> Value:
    """Sum by convolution and divide, see the module."""
    x, y = node.need(0), node.output(0)
    dtype, channels = x.dtype, x.dim(1)
    shape, out = x.shape, None if y is None else y.shape
    if dtype is None or dtype.kind != "f":
        raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
    if shape is None or out is None or not channels:
        raise Refuse("the channels and the sizes must be known")
    sizes = [size for size in shape[2:] if isinstance(size, int)]
    counts = [size for size in out[2:] if isinstance(size, int)]
    dims = len(shape) - 2
    if len(sizes) < dims or len(counts) < dims:
        raise Refuse("the channels and the sizes must be known")
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if 0 in sizes or min(counts) < 1:
        raise Refuse("the input and the output must not be empty; one is")
    kernel = [int(k) for k in node.attr("kernel_shape")]
    strides = [int(s) for s in node.attr("strides", [1] * dims)]
    gaps = [int(d) for d in node.attr("dilations", [1] * dims)]
    pads = [int(p) for p in node.attr("pads", [0] * 2 * dims)]
    if max(gaps) == 1 and not any(pads):
        raise Refuse("there must be dilations or pads; there are none")
    after: list[int] = []
    divisor = np.ones([1] * dims)
    for axis in range(dims):
        starts = np.arange(counts[axis]) * strides[axis] - pads[axis]
        reads = starts[:, None] + np.arange(kernel[axis]) * gaps[axis]
        # Padding counts where it is asked for, but not what ceil_mode reads after it.
        wide = bool(node.attr("count_include_pad", 0))
        low = -pads[axis] if wide else 0
        high = sizes[axis] + (pads[dims + axis] if wide else 0)
        counted = ((reads >= low) & (reads < high)).sum(1)
        after.append(max(0, int(reads.max()) + 1 - sizes[axis]))
        if not counted.all():
            raise Refuse("each window must meet the input; one lies in the padding as a whole")
        divisor = divisor * counted.reshape([-1 if i == axis else 1 for i in range(dims)])
    total = build.Conv(
        x,
        np.ones((channels, 1, *kernel), dtype),
        group=channels,
        kernel_shape=kernel,
        strides=strides,
        dilations=gaps,
        pads=[*pads[:dims], *after],
    )
    return build.Div(total, divisor.astype(dtype))
