"""Give the slope of a PRelu as many axes as its input has.

What it does: Adds axes of size 1 in front of the slope.
Why engines need it: OpenVINO and MNN apply a slope of one axis to the channels, as Caffe does; ONNX
    applies it to the last axis, as numpy broadcasts.
Before: y = PRelu (x, slope)                            x: [1, 3, 2, 3], slope: [3]
After: y = PRelu (x, Reshape (slope, [1, 1, 1, 3]))
When it refuses: The slope has not one axis; the rank of the input is not known, or is 1.
Accuracy: Exact: no number changes.
References: https://onnx.ai/onnx/repo-docs/Broadcasting.html; openvinotoolkit/openvino issue 35958
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite


@rewrite("PRelu", removes="rank:PRelu.slope", emits="PRelu Reshape", since=9, claims="nan inf")
def prelu_slope_of_all_axes(node: NodeView, build: Builder) -> Value:
    """Reshape the slope, see the module."""
    x, slope = node.need(0), node.need(1)
    rank = need_rank(x)
    if slope.rank != 1 or rank < 2:
        raise Refuse(f"a slope of one axis must meet more; the ranks are {slope.rank} and {rank}")
    sizes = build.constant(np.array([*[1] * (rank - 1), -1], np.int64))
    return build.PRelu(x, build.Reshape(slope, sizes))
