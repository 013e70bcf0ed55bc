"""Write the axis of CumSum as a number where it is a vector of one.

What it does: Replaces the axis by a constant without dimensions, or takes the dimension of one that
    is computed away.
Why engines need it: TensorFlow's Cumsum, which onnx2tf makes of it, wants a number: "op requires
    scalar axis operand". onnxruntime takes both, and exporters write both.
Before: y = CumSum (x, {1})                      axis: int64[1]
After: y = CumSum (x, 1)                        axis: int64
When it refuses: The axis is no vector of one element, or its sizes are not known.
Accuracy: Exact: it is the same sum.
References: https://onnx.ai/onnx/operators/onnx__CumSum.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("CumSum", removes="rank:CumSum.axis", emits="CumSum Reshape", since=11, claims="nan inf")
def cumsum_axis_to_scalar(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the number, see the module."""
    axis = node.need(1)
    if axis.static_shape != (1,):
        raise Refuse("the axis must be a vector of one element; it is not known to be")
    known = build.const(axis)
    if known is not None:
        return respell(node, build, axis=known.reshape(()))
    return respell(node, build, axis=build.Reshape(axis, np.zeros(0, np.int64)))
