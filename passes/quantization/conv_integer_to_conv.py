"""Convolve integers in floats.

What it does: Takes the zero points away, convolves in float32, and casts the sums to int32. Where a
    sum may exceed what float32 holds, the channels are cut into pieces whose sums do not, and these
    are added as int32.
Why engines need it: TensorRT has no ConvInteger; that of onnxruntime takes one zero point for all
    weights.
Before: y = ConvInteger (x, w, x_zero, w_zero)
After: y = Cast <to = 6> (Conv (Sub (Cast <to = 1> (x), x_zero), Sub (Cast <to = 1> (w), w_zero)))
When it refuses: The sizes of the kernel are unknown; the sum over a single channel may be 2^24
    already, or all of them 2^31; channels would have to be cut that are in groups; zero points that
    differ by channel are computed at run time.
Accuracy: Exact: every sum in float32 is an integer below 2^24. With the option rounded,
    channels are never cut, and a sum above that is rounded to 24 bits.
References: https://onnx.ai/onnx/operators/onnx__ConvInteger.html; operators.md of onnx-tensorrt,
    release 8.6
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Builder,
    NodeView,
    Option,
    Refuse,
    Value,
    need_type,
    needed,
    rewrite,
)

from ._parameters import BYTES, Number, one_zero, zero_at
from ._products import ROUNDED, cut, operand, pieces, summed_to_int32

_OPTION = Option(bool, False, "Sum in one piece, rounding sums above 2^24, which is cheaper.")


@rewrite(
    "ConvInteger",
    removes="op:ConvInteger form:ConvInteger.zero-points",
    emits="Add Cast Conv Reshape Slice Sub",
    options={"rounded": _OPTION},
)
def conv_integer_to_conv(node: NodeView, build: Builder) -> Value:
    """Convolve in float32, see the module."""
    shape = needed(node.need(1).static_shape, f"the shape of {node.need(1).name} must be known")
    x = operand(build, node.need(0), one_zero(node, build, 2))
    weights = operand(build, node.need(1), _zeros(node, build, len(shape)), axis=0)
    axes = range(1, len(shape))
    cuts = [0, shape[1]]
    if not build.option("rounded"):
        cuts = pieces(weights, x.largest, axes, 1, shape[1:])
    else:
        build.declare(APPROXIMATE, ROUNDED)
    if len(cuts) > 2 and int(node.attr("group", 1)) != 1:
        raise Refuse("float32 must hold the sums over a group; it does not")
    attributes = {name: node.attr(name) for name in node.attributes}
    # Engines read the window of a computed weight from the attribute alone.
    attributes.setdefault("kernel_shape", list(shape[2:]))

    def piece(start: int, stop: int) -> Value:
        part = (cut(build, each, 1, start, stop, shape[1]) for each in (x, weights))
        return build.Conv(*part, **attributes)

    return summed_to_int32(build, cuts, piece)


def _zeros(node: NodeView, build: Builder, rank: int) -> Number:
    """Return the zero points of the weights; computed ones of each channel along the first axis."""
    zeros = node.input(3)
    if zeros is None or zeros.rank != 1 or zeros.dim(0) == 1 or build.const(zeros) is not None:
        return zero_at(node, build, 3)
    need_type(zeros, BYTES)
    channels = build.Reshape(zeros, np.array([-1, *[1] * (rank - 1)], np.int64))
    return build.Cast(channels, to=TensorProto.FLOAT)
