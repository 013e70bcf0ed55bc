"""Sum along an axis that is computed at run time by choosing among all that there are.

What it does: Nests an If for each axis, of which the one runs that the number names.
Why engines need it: TensorRT wants the axis of CumSum as an initializer.
Before: y = CumSum (x, axis)                       # x: [2, 3]
After: y = If (Equal (axis, 0)) <then: CumSum (x, 0), else: CumSum (x, 1)>
When it refuses: The axis is a constant, or the rank is unknown or 0.
Accuracy: Exact: it is the same sum.
References: https://onnx.ai/onnx/operators/onnx__CumSum.html
"""

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    chosen,
    late_from_front,
    need_rank,
    rewrite,
)


@rewrite(
    "CumSum",
    removes="const:CumSum.axis",
    emits="Add Cast CumSum Equal If Less Reshape Where",
    since=11,
    claims="nan inf",
)
def cumsum_of_computed_axis(node: NodeView, build: Builder) -> Value:
    """Choose the axis, see the module."""
    x, axis = node.need(0), node.need(1)
    if build.const(axis) is not None:
        raise Refuse("the axis must be computed at run time; it is known")
    rank = need_rank(x)
    if rank < 1:
        raise Refuse("there must be an axis; the rank is 0")
    attributes = {name: node.attr(name) for name in node.attributes}

    def along(inner: Builder, number: int) -> Value:
        return inner.CumSum(x, np.array(number, np.int64), **attributes)

    return chosen(build, late_from_front(axis, rank, build), rank, along)
