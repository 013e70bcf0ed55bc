"""Flatten what a Softmax or LogSoftmax before opset 13 takes as one.

What it does: Makes the axes in front of `axis` one, and those from there on another, takes the
    Softmax of that matrix over its last axis, and brings the result to the shape of the input.
Why engines need it: Before opset 13 these operators flatten what they are given; from there on they
    work along one axis, and OpenVINO, OpenCV 4, MNN, ncnn and TFLite do so for any opset.
Before: opset 11: y = Softmax <axis = 1> (x)      # x: [2, 3, 4]
After:
    f = Flatten <axis = 1> (x)
    s = Softmax <axis = 1> (f)
    y = Reshape (s, [2, 3, 4])
When it refuses: The axis is the last one; the rank is not known.
Accuracy: Exact: it is how ONNX defines these opsets.
References: https://onnx.ai/onnx/operators/text_diff_Softmax_11_13.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite


@rewrite(
    ("LogSoftmax", "Softmax"),
    removes="form:LogSoftmax.flattened form:Softmax.flattened",
    emits="Flatten LogSoftmax Reshape Shape Softmax",
    since=5,
    until=12,
    claims="nan inf",
)
def softmax_of_joined_axes(node: NodeView, build: Builder) -> Value:
    """Make it a matrix, see the module."""
    x = node.need(0)
    rank = need_rank(x)
    axis = int(node.attr("axis", 1))
    if rank == 0 or axis % rank == rank - 1:
        raise Refuse("the axis must not be the last one; it is")
    flat = build.Flatten(x, axis=axis % rank)
    made = build.multi(node.op, flat, outputs=1, axis=1)[0]
    sizes = x.static_shape
    shape = build.Shape(x) if sizes is None else build.constant(np.array(sizes, np.int64))
    return build.Reshape(made, shape)
