"""Replace MaxUnpool by a Scatter into zeros.

What it does:
    The values are scattered, by their indices, into a flat tensor of zeros, which then takes the
    shape of the result: the one that is given, or the one that the window gives.

Why engines need it:
    TensorRT has no MaxUnpool, but it scatters.

Before:
    y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, indices)

After:
    flat = ScatterElements <axis = 0> (zeros[16], Reshape (indices, [-1]), Reshape (x, [-1]))
    y = Reshape (flat, [1, 1, 4, 4])

When it refuses:
    No shape is given and a size is unknown; the shape that is given is smaller than what the window
    gives, or has other batches or channels, which is an error in onnxruntime.

Accuracy:
    Exact: values are moved. Indices that occur twice, which MaxPool does not give where windows
    do not overlap, are as undefined as before. Where a shape is given, indices count in that shape,
    as in onnxruntime and PyTorch; ONNX's text would count in the shape that the window gives.

References:
    https://onnx.ai/onnx/operators/onnx__MaxUnpool.html; onnxruntime core/providers/cpu/nn/Unpool.cc
"""

from __future__ import annotations

from math import prod

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Option, rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT


@rewrite(
    "MaxUnpool",
    removes="op:MaxUnpool",
    emits=("ConstantOfShape", "ReduceProd", "Reshape", "Scatter", "ScatterElements"),
    accuracy=EXACT,
    options={"max_elements": Option(int, 1 << 24, "Larger results are refused.")},
)
def max_unpool_to_scatter(node: NodeView, build: Builder) -> Value:
    """Scatter, see the module."""
    x, indices, given = node.need(0), node.need(1), node.input(2)
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} is unknown")
    inferred = _inferred(node, x)
    if given is not None and build.const(given) is None:
        return _computed(build, x, indices, given)
    if given is not None:
        result = [int(size) for size in build.need_const(given, "the shape").reshape(-1)]
        _check(result, inferred)
    elif inferred is None or None in inferred:
        raise Refuse(f"the shape of {x.name} is unknown")
    else:
        result = [size for size in inferred if size is not None]
    if min(result) < 1 or prod(result) > build.option("max_elements"):
        raise Refuse(f"the result would be {result}")
    zeros = build.constant(np.zeros(prod(result), dtype=x.dtype))
    return build.Reshape(_scattered(build, zeros, x, indices), result)


def _scattered(build: Builder, zeros: Value, x: Value, indices: Value) -> Value:
    scatter = build.ScatterElements if build.opset >= 11 else build.Scatter
    return scatter(zeros, build.Reshape(indices, [-1]), build.Reshape(x, [-1]), axis=0)


def _computed(build: Builder, x: Value, indices: Value, shape: Value) -> Value:
    assert x.dtype is not None
    count = build.ReduceProd(shape, keepdims=1)
    zeros = build.ConstantOfShape(count, value=np.zeros(1, dtype=x.dtype))
    return build.Reshape(_scattered(build, zeros, x, indices), shape)


def _check(result: list[int], inferred: list[int | None] | None) -> None:
    if inferred is None or len(inferred) != len(result):
        raise Refuse(f"the result is to be {result}, and the rank of the input is another one")
    for axis, (size, least) in enumerate(zip(result, inferred, strict=True)):
        if least is None and axis >= 2:
            raise Refuse(f"the size of axis {axis} is unknown")
        if least is not None and (size != least if axis < 2 else size < least):
            raise Refuse(f"the result is to be {result}, and the window gives {inferred}")


def _inferred(node: NodeView, x: Value) -> list[int | None] | None:
    """Return the sizes that the window gives; None where the rank is unknown."""
    if x.rank is None:
        return None
    axes = x.rank - 2
    kernel: list[int] = list(node.attr("kernel_shape") or ())
    if axes < 1 or len(kernel) != axes:
        raise Refuse("shape and kernel do not fit")
    strides = [int(s) for s in node.attr("strides") or [1] * axes]
    pads = [int(p) for p in node.attr("pads") or [0] * (2 * axes)]
    sizes: list[int | None] = [x.dim(0), x.dim(1)]
    for k in range(axes):
        size = x.dim(2 + k)
        more = kernel[k] - pads[k] - pads[k + axes]
        sizes.append(None if size is None else (size - 1) * strides[k] + more)
    return sizes
