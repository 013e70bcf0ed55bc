"""Replace MaxUnpool by a Scatter into zeros.

What it does: The values are scattered, by their indices, into a flat tensor of zeros, which then
    takes the shape of the result, which the window gives.
Why engines need it: TensorRT has no MaxUnpool, but it scatters.
Before: y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, indices)
After:
    flat = ScatterElements <axis = 0> (zeros[16], Reshape (indices, [-1]), Reshape (x, [-1]))
    y = Reshape (flat, [1, 1, 4, 4])
When it refuses: Another size than that of the batch is unknown; a shape is given that is computed,
    or another one than the window gives: there the indices count in the given shape for onnxruntime
    and PyTorch, and in the window's shape for ONNX's text and its own test.
Accuracy: Exact: values are moved. Indices that occur twice, which MaxPool does not give where
    windows do not overlap, are as undefined as before.
References: https://onnx.ai/onnx/operators/onnx__MaxUnpool.html; onnxruntime
    core/providers/cpu/nn/Unpool.cc
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, rewrite


@rewrite(
    "MaxUnpool",
    removes="op:MaxUnpool",
    emits="Expand Mul Reshape Scatter ScatterElements Shape Slice",
    options={"max_elements": Option(int, 1 << 24, "Larger results are refused.")},
)
def max_unpool_to_scatter(node: NodeView, build: Builder) -> Value:
    """Scatter, see the module."""
    x, indices, given = node.need(0), node.need(1), node.input(2)
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} must be known")
    batch, rest = _inferred(node, x)
    if given is not None:
        wanted = [int(size) for size in build.need_const(given, "the shape").reshape(-1)]
        if wanted != [batch, *rest]:
            raise Refuse(
                f"the result must be what the window gives, {[batch, *rest]}; it is to be {wanted}"
            )
    known = [batch, *rest] if isinstance(batch, int) else rest
    if min(known) < 1 or prod(known) > build.option("max_elements"):
        raise Refuse(
            f"the result must have 1 to max_elements elements; its shape would be {[batch, *rest]}"
        )
    if isinstance(batch, int):
        zeros = build.constant(np.zeros(prod(known), dtype=x.dtype))
    else:
        first = build.Slice(build.Shape(x), starts=[0], ends=[1], axes=[0])
        count = build.Mul(first, np.array([prod(rest)], np.int64))
        zeros = build.Expand(build.constant(np.zeros(1, dtype=x.dtype)), count)
    scatter = build.ScatterElements if build.opset >= 11 else build.Scatter
    flat = scatter(zeros, build.Reshape(indices, [-1]), build.Reshape(x, [-1]), axis=0)
    return build.Reshape(flat, [batch if isinstance(batch, int) else -1, *rest])


def _inferred(node: NodeView, x: Value) -> tuple[int | str | None, list[int]]:
    """Return the size of the batch, and the others that the window gives."""
    shape = x.shape
    rest = [size for size in (shape or ())[1:] if isinstance(size, int)]
    if shape is None or len(rest) != len(shape) - 1:
        raise Refuse(f"the shape of {x.name} must be known, but for the batch")
    axes = len(shape) - 2
    kernel: list[int] = list(node.attr("kernel_shape") or ())
    if axes < 1 or len(kernel) != axes:
        raise Refuse("shape and kernel must fit; they do not")
    strides = [int(s) for s in node.attr("strides") or [1] * axes]
    pads = [int(p) for p in node.attr("pads") or [0] * (2 * axes)]
    spatial = [
        (rest[1 + k] - 1) * strides[k] + kernel[k] - pads[k] - pads[k + axes] for k in range(axes)
    ]
    return shape[0], [rest[0], *spatial]
