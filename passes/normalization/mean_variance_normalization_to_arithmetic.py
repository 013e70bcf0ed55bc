"""Compute MeanVarianceNormalization by sums and a root.

What it does:
    Subtracts the mean over the axes, and divides by the root of the mean square of what is left and
    1e-9.

Why engines need it:
    TensorRT has an importer for MeanVarianceNormalization from 8.5 on.

Before:
    y = MeanVarianceNormalization (x)

After:
    d = Sub (x, ReduceMean <axes = {0, 2, 3}> (x))
    y = Div (d, Add (Sqrt (ReduceMean <axes = {0, 2, 3}> (Mul (d, d))), 1e-9))

When it refuses:
    The dtype is not float32 or float64.

Accuracy:
    Exact up to the order of summation, but for constant tensors, where what is left of the mean by
    rounding is divided by 1e-9 or so.

References:
    https://onnx.ai/onnx/operators/onnx__MeanVarianceNormalization.html
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_type, rewrite


@rewrite(
    "MeanVarianceNormalization",
    removes="op:MeanVarianceNormalization",
    emits="Add Div Mul ReduceMean Sqrt Sub",
    since=9,
)
def mean_variance_normalization_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Subtract the mean and divide, see the module."""
    x = node.need(0)
    need_type(x, (TensorProto.FLOAT, TensorProto.DOUBLE))
    axes = [int(axis) for axis in node.attr("axes", [0, 2, 3])]
    away = build.Sub(x, build.ReduceMean(x, axes=axes, keepdims=1))
    square = build.ReduceMean(build.Mul(away, away), axes=axes, keepdims=1)
    return build.Div(away, build.Add(build.Sqrt(square), 1e-9))
