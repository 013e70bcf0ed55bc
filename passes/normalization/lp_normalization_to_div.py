"""Write LpNormalization as a quotient.

What it does: Divides by the sum of absolute values, or by the root of the sum of squares, along the
    axis.
Why engines need it: TensorRT before 10 has no LpNormalization.
Before: y = LpNormalization <axis = 1, p = 2> (x)
After:
    n = ReduceL2 <axes = [1]> (x)
    y = Div (x, Add (n, Cast <to = 1> (Not (Greater (n, 0)))))
When it refuses: The elements are not floats of known rank; p is neither 1 nor 2.
Accuracy: Exact up to rounding. Where all elements are 0, so is the result, as in onnxruntime.
References: https://onnx.ai/onnx/operators/onnx__LpNormalization.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

_NORMS = {1: "ReduceL1", 2: "ReduceL2"}


@rewrite(
    "LpNormalization",
    removes="op:LpNormalization dtype:LpNormalization.*",
    emits="Add Cast Div Greater Not ReduceL1 ReduceL2",
    since=7,
)
def lp_normalization_to_div(node: NodeView, build: Builder) -> Value:
    """Divide by the norm, see the module."""
    x, norm = node.need(0), _NORMS.get(int(node.attr("p", 2)))
    if x.dtype is None or x.dtype.kind != "f" or norm is None:
        raise Refuse(f"{x.name} must be floats and p be 1 or 2; they are {x.type_name}, {norm}")
    axis = int(node.attr("axis", -1)) % need_rank(x)
    size = build.node(norm, x, axes=[axis], keepdims=1)
    # 0 / 1 in place of 0 / 0; Where and Equal of floats came later than this operator.
    none = build.Not(build.Greater(size, build.constant(np.zeros((), x.dtype))))
    return build.Div(x, build.Add(size, build.Cast(none, to=x.elem_type)))
