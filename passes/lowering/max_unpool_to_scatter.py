"""Replace MaxUnpool by a Scatter into zeros.

What it does:
    The values are scattered, by their indices, into a flat tensor of zeros, which then takes the
    shape of the result.

Why engines need it:
    TensorRT has no MaxUnpool, but it scatters.

Before:
    y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, indices)

After:
    flat = ScatterElements <axis = 0> (zeros[16], Reshape (indices, [-1]), Reshape (x, [-1]))
    y = Reshape (flat, [1, 1, 4, 4])

When it refuses:
    A size is unknown, or the shape of the result is given as an input, whose indices engines
    read differently.

Accuracy:
    Exact: values are moved. Indices that occur twice, which MaxPool does not give where windows
    do not overlap, are as undefined as before.

References:
    https://onnx.ai/onnx/operators/onnx__MaxUnpool.html
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
    emits=("Reshape", "Scatter", "ScatterElements"),
    accuracy=EXACT,
    options={"max_elements": Option(int, 1 << 24, "Larger results are refused.")},
)
def max_unpool_to_scatter(node: NodeView, build: Builder) -> Value:
    """Scatter, see the module."""
    x, indices = node.need(0), node.need(1)
    if node.input(2) is not None:
        raise Refuse("the shape of the result is given")
    shape = x.static_shape
    if shape is None or x.dtype is None:
        raise Refuse(f"the shape or the dtype of {x.name} is unknown")
    kernel: list[int] = list(node.attr("kernel_shape") or ())
    axes = len(shape) - 2
    if axes < 1 or len(kernel) != axes:
        raise Refuse("shape and kernel do not fit")
    strides = [int(s) for s in node.attr("strides") or [1] * axes]
    pads = [int(p) for p in node.attr("pads") or [0] * (2 * axes)]
    sizes = [
        (shape[2 + k] - 1) * strides[k] - pads[k] - pads[k + axes] + kernel[k] for k in range(axes)
    ]
    result = [*shape[:2], *sizes]
    if min(result) < 1 or prod(result) > build.option("max_elements"):
        raise Refuse(f"the result would be {result}")
    scatter = build.ScatterElements if build.opset >= 11 else build.Scatter
    flat = scatter(
        build.constant(np.zeros(prod(result), dtype=x.dtype)),
        build.Reshape(indices, [-1]),
        build.Reshape(x, [-1]),
        axis=0,
    )
    return build.Reshape(flat, result)
