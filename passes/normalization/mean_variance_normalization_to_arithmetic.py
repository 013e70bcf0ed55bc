"""Compute MeanVarianceNormalization by sums and a root.

What it does: Subtracts the mean over the axes, and divides by the root of the mean square of what
    is left and 1e-9. Before opset 9, as an experiment of Caffe2's, `across_channels` and
    `normalize_variance` say over what, and whether it is divided; nothing is added to the root
    there.
Why engines need it: TensorRT has an importer for MeanVarianceNormalization from 8.5 on; onnxruntime
    up to 1.15 takes no fewer than four dimensions.
Before: y = MeanVarianceNormalization (x)
After:
    d = Sub (x, ReduceMean <axes = {0, 2, 3}> (x))
    y = Div (d, Add (Sqrt (ReduceMean <axes = {0, 2, 3}> (Mul (d, d))), 1e-9))
When it refuses: The dtype is not float32 or float64.
Accuracy: Exact up to the order of summation, but for constant tensors, where what is left of the
    mean by rounding is divided by 1e-9 or so, before opset 9 by 0.
References: https://onnx.ai/onnx/operators/onnx__MeanVarianceNormalization.html;
    onnx/defs/experiments/defs.cc of onnx 1.2; the values of the experiment were held to the kernel
    of onnxruntime 1.32
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_rank_of, need_type, rewrite

_STANDARD = 9  # the opset that took it up


@rewrite(
    "MeanVarianceNormalization",
    removes="op:MeanVarianceNormalization rank:MeanVarianceNormalization.*",
    emits="Add Div Mul ReduceMean Sqrt Sub",
)
def mean_variance_normalization_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Subtract the mean and divide, see the module."""
    x = node.need(0)
    need_type(x, (TensorProto.FLOAT, TensorProto.DOUBLE))
    if node.opset < _STANDARD:
        across = bool(node.attr("across_channels", 0))
        axes = [0, 1, 2, 3] if across else [0, 2, 3]
        need_rank_of(x, len("NCHW"))
    else:
        axes = [int(axis) for axis in node.attr("axes", [0, 2, 3])]
    away = build.Sub(x, build.ReduceMean(x, axes=axes, keepdims=1))
    if node.opset < _STANDARD and not node.attr("normalize_variance", 1):
        return away
    square = build.ReduceMean(build.Mul(away, away), axes=axes, keepdims=1)
    root = build.Sqrt(square)
    return build.Div(away, root if node.opset < _STANDARD else build.Add(root, 1e-9))
