"""Write ReduceLogSumExp as a sum of exponentials.

What it does: Takes the largest number away first, so that no exponential overflows, and adds it
    afterwards. Where that is infinite, the largest finite number or the smallest stands for it.
Why engines need it: OpenVINO 2026.4 does not read the axes of ReduceLogSumExp from opset 13 to 17.
Before: y = ReduceLogSumExp <axes = [1], keepdims = 1> (x)
After:
    m = Clip (ReduceMax <axes = [1], keepdims = 1> (x), smallest, largest)
    y = Add (Log (ReduceSum (Exp (Sub (x, m)), [1])), m)
When it refuses: The elements are not floats of numpy; the axes are computed, or missing while
    noop_with_empty_axes is set; they do not stay as 1, all are reduced, and the rank is not known.
    Nodes below opset 12, where Clip is of float32 alone, are left alone.
Accuracy: Exact up to rounding.
References: https://onnx.ai/onnx/operators/onnx__ReduceLogSumExp.html; openvino 2026.4.1, measured
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

from ._reductions import Reduced, reduced


@rewrite(
    "ReduceLogSumExp",
    removes="attr:ReduceLogSumExp.axes",
    emits="Add Clip Exp Log ReduceMax ReduceSum Squeeze Sub",
    claims="nan inf",
    since=12,
)
def reduce_log_sum_exp_by_sum(node: NodeView, build: Builder) -> Value:
    """Sum exponentials of differences, see the module."""
    x, how = node.need(0), reduced(node, build)
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
    kept, limits = Reduced(how.axes, 1), np.finfo(x.dtype)
    largest = build.Clip(kept.by("ReduceMax", x, build), min=limits.min, max=limits.max)
    total = kept.sum(build.Exp(build.Sub(x, largest)), build)
    result = build.Add(build.Log(total), largest)
    if how.keepdims:
        return result
    axes = range(need_rank(x)) if how.axes is None else how.axes
    return build.Squeeze(result, axes=list(axes))
