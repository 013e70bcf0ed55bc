"""Transpose blocks of a tensor without giving each its own dimension.

What it does: Between a Reshape that splits dimensions and one that joins them, dimensions that stay
    side by side are transposed as one, and those of size 1 are left out.
Why engines need it: QNN has no tensor of more than five dimensions, and ncnn none of more than four
    beside a batch of 1. Windows of transformers and shuffled pixels are written with six, and with
    five.
Before:
    a = Reshape <[2, 4, 7, 4, 7, 96]> (x)
    t = Transpose <perm = [0, 1, 3, 2, 4, 5]> (a)
    y = Reshape <[32, 49, 96]> (t)
After:
    a = Reshape <[8, 7, 4, 672]> (x)
    t = Transpose <perm = [0, 2, 1, 3]> (a)
    y = Reshape <[32, 49, 96]> (t)
When it refuses: Sizes are unknown or 0, more than five dimensions or as many as before are left,
    somebody else reads what lies between, or the first and last tensor have more than five
    dimensions themselves.
Accuracy: Exact: the same numbers in the same order.
References: https://onnx.ai/onnx/operators/onnx__Transpose.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._blocks import joined, turned_between

_MOST = 5


@rewrite("Reshape", removes="rank:Reshape.* rank:Transpose.*", emits="Reshape Transpose", since=5)
def transpose_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Transpose what stays together as one, see the module."""
    first, shape, order, last = turned_between(node, _MOST)
    sizes, perm = joined(shape, order)
    if len(sizes) > _MOST:
        raise Refuse(f"{_MOST} dimensions at most must be left; {len(sizes)} are")
    if len(sizes) == len(shape):
        raise Refuse(f"some of the {len(shape)} dimensions must stay together; none do")
    blocks = build.Reshape(first, np.array(sizes, np.int64))
    return build.Reshape(build.Transpose(blocks, perm=perm), np.array(last, np.int64))
