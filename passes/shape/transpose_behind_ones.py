"""Transpose after dimensions of 1 that stay where they are.

What it does: Gives the tensor one or two leading dimensions of 1, transposes what is after them,
    and takes them away. It is one where two sizes are known to differ, and two otherwise.
Why engines need it: onnx2tf looks for the axes of a Transpose that moves the first one by their
    sizes, and confuses those of one size: a matrix of 3 by 3 is unchanged. Where the
    first stays it goes by the numbers in perm, unless all other sizes are equal.
Before: y = Transpose <perm = [1, 0]> (x)              x: [3, 3]
After:
    u = Unsqueeze <axes = {0, 1}> (x)
    y = Squeeze <axes = {0, 1}> (Transpose <perm = [0, 1, 3, 2]> (u))
When it refuses: The rank is unknown, or the first dimension stays where it is anyway.
Accuracy: Exact: the same values in the same order.
References: https://onnx.ai/onnx/operators/onnx__Transpose.html; onnx2tf 1.29.24, ops/Transpose.py
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite


@rewrite(
    "Transpose",
    removes="form:Transpose.equal-sizes",
    emits="Squeeze Transpose Unsqueeze",
    claims="nan inf",
)
def transpose_behind_ones(node: NodeView, build: Builder) -> Value:
    """Put ones in front, see the module."""
    x = node.need(0)
    rank = need_rank(x)
    perm = list(node.attr("perm") or reversed(range(rank)))
    if not perm or perm[0] == 0:
        raise Refuse("the first dimension must move; it stays")
    sizes = {size for size in x.shape or () if isinstance(size, int)}
    ones = list(range(1 if len(sizes) > 1 else 2))
    moved = build.Transpose(
        build.Unsqueeze(x, axes=ones), perm=[*ones, *(axis + len(ones) for axis in perm)]
    )
    return build.Squeeze(moved, axes=ones)
