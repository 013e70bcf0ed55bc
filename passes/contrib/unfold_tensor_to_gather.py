"""Take UnfoldTensor apart.

What it does: Gathers the places of each window of an axis; the window becomes the last axis.
Why engines need it: It is an operator of onnxruntime alone; other engines do not know it.
Before: y = com.microsoft.UnfoldTensor <dim = 2, size = 3, step = 2> (x)           # x: [2, 3, 8]
After: y = Gather <axis = 2> (x, [[0, 1, 2], [2, 3, 4], [4, 5, 6]])
When it refuses: The rank, or the size along which the tensor is unfolded, is unknown.
Accuracy: Exact: nothing is computed.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.UnfoldTensor;
    onnxruntime/contrib_ops/cpu/tensor/unfold.cc
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

_UNFOLD = "com.microsoft::UnfoldTensor"


@rewrite(_UNFOLD, emits="Gather Transpose")
def unfold_tensor_to_gather(node: NodeView, build: Builder) -> Value:
    """Take UnfoldTensor apart: Gather of the places of every window."""
    x, size, step = node.need(0), int(node.attr("size")), int(node.attr("step", 1))
    rank = need_rank(x, 1)
    axis = int(node.attr("dim", -1)) % rank
    length = x.dim(axis)
    if length is None or not 0 < size <= length or step < 1:
        raise Refuse(f"the size of axis {axis} must be known and hold a window; it is {length}")
    places = np.arange(0, length - size + 1, step)[:, None] + np.arange(size)[None, :]
    picked = build.Gather(x, build.constant(places), axis=axis)
    order = [place for place in range(rank + 1) if place != axis + 1]
    return picked if axis == rank - 1 else build.Transpose(picked, perm=[*order, axis + 1])
