"""Convolve whole numbers in floats.

What it does:
    Takes the zero points away, convolves in float32, and casts the sums to int32.

Why engines need it:
    TensorRT has no ConvInteger.

Before:
    y = ConvInteger (x, w, x_zero, w_zero)

After:
    y = Cast <to = 6> (Conv (Sub (Cast <to = 1> (x), x_zero), Sub (Cast <to = 1> (w), w_zero)))

When it refuses:
    The sizes of the kernel are unknown, so many products are summed that float32 does not hold
    every result, or the zero points of the weights differ by channel.

Accuracy:
    Exact: every sum is a whole number below 2^24.

References:
    https://onnx.ai/onnx/operators/onnx__ConvInteger.html; operators.md of onnx-tensorrt,
    release 8.6
"""

from __future__ import annotations

from math import prod

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite
from graphfix.passes.quantization._parameters import whole

_INTEGERS = 1 << 24
_LARGEST = 255


@rewrite("ConvInteger", removes="op:ConvInteger", emits="Cast Conv Reshape Sub")
def conv_integer_to_conv(node: NodeView, build: Builder) -> Value:
    """Convolve in float32, see the module."""
    x, weights = node.need(0), node.need(1)
    shape = weights.static_shape
    if shape is None:
        raise Refuse(f"the shape of {weights.name} must be known")
    count = prod(shape[1:])
    if count * _LARGEST * _LARGEST >= _INTEGERS:
        raise Refuse(
            f"the sums must be numbers that float32 holds; {count} products may sum up to more"
        )

    def away(value: Value, zero: Value | None) -> Value:
        number = whole(build, value)
        if zero is None:
            return number
        if zero.rank is None or (zero.rank and zero.dim(0) != 1):
            raise Refuse(f"the zero points {zero.name} must be one number; they differ by channel")
        return build.Sub(number, build.Reshape(whole(build, zero), shape=[1] * len(shape)))

    attributes = {name: node.attr(name) for name in node.attributes}
    # Engines read the window of a computed weight from the attribute alone.
    attributes.setdefault("kernel_shape", list(shape[2:]))
    sums = build.Conv(away(x, node.input(2)), away(weights, node.input(3)), **attributes)
    return build.Cast(sums, to=TensorProto.INT32)
