"""Give OneHot its constant depth as an integer without axes.

What it does: Writes the depth as a number of rank 0; floats, which ONNX cuts off, become int64.
Why engines need it: TVM takes the depth for a number of Python, which a vector and a float are not.
Before: y = OneHot (index, [4], values)
After: y = OneHot (index, 4, values)
When it refuses: The depth is computed, or is no single number, or is an int32 or int64 of rank 0.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__OneHot.html; apache-tvm 0.27.0.post1, measured
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("OneHot", removes="const:OneHot.depth", emits="OneHot", since=9)
def one_hot_depth_as_number(node: NodeView, build: Builder) -> Value:
    """Take the axis away, see the module."""
    depth = node.need(1)
    known = build.need_const(depth, "the depth")
    if known.size != 1:
        raise Refuse(f"the depth must be one number; it has the shape {list(known.shape)}")
    whole = known.dtype in (np.int32, np.int64)
    if not known.ndim and whole:
        raise Refuse(f"the depth must be a vector or not an integer; it is {depth.type_name}")
    kind = known.dtype if whole else np.int64
    number = build.constant(np.array(int(known.reshape(-1)[0]), kind))
    axis = int(node.attr("axis", -1))
    return build.OneHot(node.need(0), number, node.need(2), axis=axis)
