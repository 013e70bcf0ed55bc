"""Write an Unsqueeze as a Reshape to the sizes that it gives.

What it does: Names the sizes of the result; one of them may be open.
Why engines need it: onnx2tf puts the channels of what it is fed last, and Unsqueeze counts its axes
    as if they were first where no operator of images is before it. Reshape asks how its input
    lies.
Before: y = Unsqueeze <axes = [3]> (x)          x: [1, 8, 6]
After: y = Reshape (x, {1, 8, 6, 1})
When it refuses: The axes are computed, the rank is unknown, or several sizes are; a known size is
    0.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Unsqueeze.html; onnx2tf 1.29.24,
    onnx2tf/ops/Unsqueeze.py
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite


@rewrite("Unsqueeze", removes="form:Unsqueeze.before-image", emits="Reshape", claims="nan inf")
def unsqueeze_to_reshape(node: NodeView, build: Builder) -> Value:
    """Name the sizes, see the module."""
    x = node.need(0)
    given = node.attr("axes")
    axes = given if given is not None else build.need_const(node.input(1), "the axes")
    rank = need_rank(x) + len(np.atleast_1d(axes))
    added = {int(axis) % rank for axis in np.atleast_1d(np.asarray(axes))}
    left = iter([x.dim(axis) for axis in range(need_rank(x))])
    sizes = [1 if axis in added else next(left) for axis in range(rank)]
    if 0 in sizes or sizes.count(None) > 1:
        raise Refuse(f"the sizes of {x.name} must be known but for one, and not 0")
    return build.Reshape(x, np.array([-1 if size is None else size for size in sizes], np.int64))
