"""Take the largest number of an image by a GlobalMaxPool.

What it does: Writes ReduceMax over all axes after the first two as GlobalMaxPool, and drops these
    axes with Reshape where they are not kept.
Why engines need it: pnnx makes no layer of ReduceMax over two axes, and does not read axes that are
    an input.
Before: y = ReduceMax <keepdims = 0> (x, [2, 3])       # x: [1, 8, 5, 5]
After:
    p = GlobalMaxPool (x)
    y = Reshape <[1, 8]> (p)
When it refuses: The input is no image of floats, the axes are others or computed, a size is 0, or
    the first two are not known where the axes are not kept.
Accuracy: Exact: the same number.
References: https://onnx.ai/onnx/operators/onnx__GlobalMaxPool.html, onnx__ReduceMax.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_RANK = 4


@rewrite(
    "ReduceMax",
    removes="form:ReduceMax.axes-input attr:ReduceMax.axes",
    emits="GlobalMaxPool Reshape",
    since=5,
)
def reduce_max_to_global_pool(node: NodeView, build: Builder) -> Value:
    """Pool, see the module."""
    x = node.need(0)
    if x.rank != _RANK or x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be an image of floats")
    if any(x.dim(axis) in (None, 0) for axis in (2, 3)):
        raise Refuse("height and width must be known and above 0")
    given = node.input(1)
    axes = node.attr("axes", ()) if given is None else build.need_const(given, "the axes")
    if sorted(int(axis) % _RANK for axis in np.reshape(axes, -1)) != [2, 3]:
        raise Refuse(f"the axes must be 2 and 3; they are {np.reshape(axes, -1).tolist()}")
    pooled = build.GlobalMaxPool(x)
    if node.attr("keepdims", 1):
        return pooled
    sizes = [x.dim(0), x.dim(1)]
    if None in sizes:
        raise Refuse("the first two sizes must be known")
    return build.Reshape(pooled, np.array(sizes, np.int64))
