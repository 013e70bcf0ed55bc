"""Put the channels of an image first with height and width as one axis.

What it does: Joins height and width by a Reshape, transposes three axes, and splits the last of
    them again.
Why engines need it: TFLite's converter onnx2tf takes a tensor for an image that has its channels
    last already where all sizes after the first are equal, and leaves out the Transpose that puts
    them first. Of three axes two differ.
Before: y = Transpose <perm = [0, 3, 1, 2]> (x)      with x: float[1,8,8,8]
After:
    a = Reshape <[1, 64, 8]> (x)
    b = Transpose <perm = [0, 2, 1]> (a)
    y = Reshape <[1, 8, 8, 8]> (b)
When it refuses: The permutation is another one, the sizes after the first are not known, or one of
    height and width is 1 or less.
Accuracy: Exact: the same values in the same order.
References: https://onnx.ai/onnx/operators/onnx__Transpose.html; measured on onnx2tf 1.29.24:
    graphfix/engines/tflite/facts/asked.json, transposed-back
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_PERM = [0, 3, 1, 2]


@rewrite(
    "Transpose",
    removes="form:Transpose.equal-sizes",
    emits="Reshape Transpose",
    since=5,
    claims="nan inf",
)
def channels_first_of_joined_axes(node: NodeView, build: Builder) -> Value:
    """Transpose three axes, see the module."""
    x = node.need(0)
    perm = [int(axis) for axis in node.attr("perm", ())]
    if perm != _PERM:
        raise Refuse(f"the permutation must be {_PERM}; it is {perm}")
    first, *sizes = (x.dim(axis) for axis in range(len(_PERM)))
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) != len(sizes):
        raise Refuse("the sizes after the first must be known")
    height, width, channels = known
    if min(height, width) <= 1 or channels <= 0:
        raise Refuse(f"height and width must be more than 1; they are {height} and {width}")
    batch = first if isinstance(first, int) and first > 0 else -1
    joined = build.Reshape(x, np.array([batch, height * width, channels], np.int64))
    turned = build.Transpose(joined, perm=[0, 2, 1])
    return build.Reshape(turned, np.array([batch, channels, height, width], np.int64))
