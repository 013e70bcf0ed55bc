"""Divide by what was expanded before it was.

What it does: Leaves the Expand of a divisor out, where a division broadcasts the divisor to the
    same sizes.
Why engines need it: pnnx takes x / expand(clip(norm(x))), as F.normalize is exported, for a layer
    of ncnn that computes something else, without a word; without the Expand it does not.
Before:
    n = Clip (ReduceL2 <axes = [1], keepdims = 1> (x), 1e-12)        x: [2, 3, 4]
    y = Div (x, Expand (n, [2, 3, 4]))
After: y = Div (x, n)
When it refuses: The divisor is not expanded; a shape is not known, or the division alone would give
    another.
Accuracy: Exact: the same values are divided.
References: https://onnx.ai/onnx/repo-docs/Broadcasting.html; measured on ncnn 1.0.20261020 and pnnx
    20261020
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Div", removes="form:Div.expanded-norm", emits="Div", since=7, claims="nan inf")
def expanded_divisor_left_out(node: NodeView, build: Builder) -> Value:
    """Leave the Expand out, see the module."""
    x, divisor = node.need(0), node.need(1)
    maker = divisor.producer
    if maker is None or maker.op != "Expand" or maker.domain:
        raise Refuse(f"{divisor.name} must be the output of Expand; it does not")
    small = maker.need(0)
    shapes = [value.static_shape for value in (x, divisor, small)]
    if None in shapes:
        raise Refuse(f"the shapes of {x.name}, {small.name} and {divisor.name} must be known")
    whole, wide, given = (tuple(shape or ()) for shape in shapes)
    if np.broadcast_shapes(whole, given) != np.broadcast_shapes(whole, wide):
        raise Refuse(f"{divisor.name} must give no more than {x.name} has; it does")
    return build.Div(x, small)
