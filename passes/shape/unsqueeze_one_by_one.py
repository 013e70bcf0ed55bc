"""Add axes one after the other.

What it does: Writes an Unsqueeze of several axes as one of the lowest, one of the next, and so on.
Why engines need it: OpenCV 4: "Multidimensional unsqueeze in function 'parseUnsqueeze'".
Before: y = Unsqueeze <axes = [0, 2]> (x)
After:
    t = Unsqueeze <axes = [0]> (x)
    y = Unsqueeze <axes = [2]> (t)
When it refuses: The axes are computed, or there is only one; an axis counts from the end and the
    rank is unknown.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Unsqueeze.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite


@rewrite("Unsqueeze", removes="form:Unsqueeze.several-axes", emits="Unsqueeze", claims="nan inf")
def unsqueeze_one_by_one(node: NodeView, build: Builder) -> Value:
    """Add each axis alone, see the module."""
    value = node.need(0)
    given = node.attr("axes")
    axes = given if given is not None else build.need_const(node.input(1), "the axes")
    wanted = [int(axis) for axis in np.atleast_1d(np.asarray(axes))]
    if len(wanted) < 2:
        raise Refuse("there must be several axes; there is one")
    if min(wanted) < 0:
        rank = need_rank(value) + len(wanted)
        wanted = [axis % rank for axis in wanted]
    for axis in sorted(wanted):
        value = build.Unsqueeze(value, axes=[axis])
    return value
