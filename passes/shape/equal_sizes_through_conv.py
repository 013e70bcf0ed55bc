"""Pass an image whose sizes are equal through a convolution and back.

What it does: Puts a Conv of one channel each after the Reshape, whose windows are the numbers 1
    and -1 in turns, and a Mul by the same.
Why engines need it: TFLite's converter onnx2tf tells from sizes whether the channels of a tensor
    are last. Of an image whose sizes after the first are equal it cannot, and pools and padded
    convolutions read it by other axes. A Conv without pads is the one operator whose axes it finds
    by trying, and the output of a Conv has the layout that is assumed. Kernels of one value would
    be the same by any axes, and nothing is found.
Before: y = Reshape (x, [1, 4, 4, 4])
After:
    a = Reshape (x, [1, 4, 4, 4])
    b = Conv <group = 4> (a, w)              w: float[4, 1, 1, 1], {1, -1, 1, -1}
    y = Mul (b, s)                           s: float[1, 4, 1, 1], {1, -1, 1, -1}
When it refuses: The result is no image of float32, or its sizes after the first are not known, or
    all that reads it are convolutions of one channel each.
Accuracy: Exact: each number is multiplied by 1, or twice by -1; only the sign of a zero may be
    another.
References: https://onnx.ai/onnx/operators/onnx__Conv.html; measured on onnx2tf 1.29.24:
    graphfix/engines/tflite/facts/asked.json, image-of-equal-sizes
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_IMAGE = 4  # the rank


@rewrite(
    "Reshape",
    removes="form:Reshape.equal-sizes",
    emits="Conv Mul Reshape",
    since=7,
    claims="nan inf",
)
def equal_sizes_through_conv(node: NodeView, build: Builder) -> Value:
    """Put a Conv and a Mul after, see the module."""
    image = node.output(0)
    if image is None or image.rank != _IMAGE or image.dtype != np.float32:
        raise Refuse("the result must be float32 of rank 4; it is not")
    channels, *space = (image.dim(axis) for axis in range(1, _IMAGE))
    if not isinstance(channels, int) or not all(isinstance(s, int) and s > 0 for s in space):
        raise Refuse("the sizes after the first must be known, and not 0")
    if image.consumers and all(_is_by_channel(reader, channels) for reader in image.consumers):
        raise Refuse("a reader must not be a depthwise Conv; all are")
    lying = respell(node, build)[0]
    assert lying is not None
    signs = np.where(np.arange(channels) % 2, -1, 1).astype(np.float32)
    turned = build.Conv(
        lying, signs.reshape(channels, 1, 1, 1), group=channels, kernel_shape=[1, 1]
    )
    return build.Mul(turned, signs.reshape(1, channels, 1, 1))


def _is_by_channel(reader: NodeView, channels: int) -> bool:
    weights = reader.input(1)
    narrow = weights is not None and weights.static_shape == (channels, 1, 1, 1)
    return reader.op == "Conv" and reader.attr("group", 1) == channels and narrow
