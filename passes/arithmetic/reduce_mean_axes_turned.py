"""Name the axes of a mean of images in the other order.

What it does: Writes the axes 2 and 3 of ReduceMean as 3 and 2.
Why engines need it: rknn-toolkit2 takes ReduceMean over the axes 2 and 3 for a global pool, and
    keeps them where they are not to be kept: what is read of it then has another rank. In the other
    order it does not.
Before: y = ReduceMean <axes = [2, 3], keepdims = 0> (x)
After: y = ReduceMean <axes = [3, 2], keepdims = 0> (x)
When it refuses: The axes are not known, or are not two of which the first comes first.
Accuracy: Exact up to the order in which numbers are summed up.
References: https://onnx.ai/onnx/operators/onnx__ReduceMean.html; rknn-toolkit2 2.3.2, measured
"""

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    axes_of,
    need_rank,
    respell,
    rewrite,
)


@rewrite("ReduceMean", removes="attr:ReduceMean.axes", emits="ReduceMean", claims="nan inf")
def reduce_mean_axes_turned(node: NodeView, build: Builder) -> Value | None:
    """Turn the axes, see the module."""
    given = node.input(1)
    axes = node.attr("axes") if given is None else axes_of(given, "the axes", build)
    if axes is None:
        raise Refuse("two axes must be named; none is")
    rank = need_rank(node.need(0))
    known = [int(axis) % rank for axis in axes]
    if len(known) != 2 or known[0] >= known[1]:
        raise Refuse(f"two axes must be named, the first one first; they are {known}")
    turned = known[::-1]
    (result,) = respell(node, build, axes=turned if given is None else np.array(turned, np.int64))
    return result
