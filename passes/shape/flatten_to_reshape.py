"""Flatten to a column by Reshape.

What it does: Writes a Flatten after the last axis as a Reshape to one column, and any other one as
    a Reshape to known sizes.
Why engines need it: OpenCV 4 takes no axis after the last one: "axis >= -dims && axis < dims".
Before: y = Flatten <axis = 2> (x)   with x: float[N,3]
After: y = Reshape (x, [-1, 1])
When it refuses: The rank is unknown, or sizes are, or one is 0, where the axis is not after the
    last one.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Flatten.html, onnx__Reshape.html
"""

from math import prod

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite


@rewrite("Flatten", removes="attr:Flatten.axis", emits="Reshape", claims="nan inf")
def flatten_to_reshape(node: NodeView, build: Builder) -> Value:
    """Write the shape down, see the module."""
    x, axis = node.need(0), node.attr("axis", 1)
    rank = need_rank(x)
    if axis == rank:
        return build.Reshape(x, [-1, 1])
    sizes = x.static_shape
    if sizes is None or 0 in sizes:
        raise Refuse(f"the sizes of {x.name} must be known and none be 0, which Reshape copies")
    axis %= rank
    return build.Reshape(x, [prod(sizes[:axis]), prod(sizes[axis:])])
