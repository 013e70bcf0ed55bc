"""Replace LayerNormalization by means and arithmetic.

What it does: The trailing axes are centred, divided by their deviation, multiplied by the scale and
    added to the bias. Mean and reciprocal deviation are given where they are used.
Why engines need it: LayerNormalization came with opset 17 and with TensorRT 8.6, which gives its
    first output only. onnxruntime writes it at older opsets too, where it has no schema: the types
    after it are worked out here.
Before: y = LayerNormalization <axis = -1, epsilon = 1e-5> (x, scale, bias)
After:
    away = Sub (x, ReduceMean (x))
    deviation = Sqrt (Add (ReduceMean (Mul (away, away)), 1e-5))
    y = Add (Mul (Div (away, deviation), scale), bias)
When it refuses: The rank or the dtype is unknown; from opset 18 on, a size of the axes too.
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32, as
    stash_type says. The variance is the mean of squared distances from the mean, so that infinite
    numbers give NaN where onnxruntime's sums of squares may give another value.
References: https://onnx.ai/onnx/operators/onnx__LayerNormalization.html; microsoft/onnxruntime
    onnxruntime/core/graph/contrib_ops/contrib_defs.cc
"""

from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank,
    need_type,
    rewrite,
)
from graphfix.authoring.means import LOW_PRECISION, like, mean, wide

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, *LOW_PRECISION)


def _axes(node: NodeView, rank: int) -> list[int]:
    axis = int(node.attr("axis", -1))
    if not -rank <= axis < rank:
        raise Refuse(f"the axis must lie in rank {rank}; it is {axis}")
    return list(range(axis % rank, rank))


@rewrite(
    "LayerNormalization",
    removes="op:LayerNormalization form:LayerNormalization.* attr:LayerNormalization.*",
    emits="Add Cast Div Mul Reciprocal ReduceMean ReduceSum Sqrt Sub",
)
def layer_normalization_to_arithmetic(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Normalise, see the module."""
    x = node.need(0)
    rank = need_rank(x)
    need_type(x, _FLOATS)
    axes = _axes(node, rank)
    if build.opset >= 18 and not all(x.dim(axis) for axis in axes):
        raise Refuse("the sizes that are normalised must be known and not 0")
    data = wide(build, x)
    middle = mean(build, data, axes)
    away = build.Sub(data, middle)
    variance = mean(build, build.Mul(away, away), axes)
    deviation = build.Sqrt(build.Add(variance, float(node.attr("epsilon", 1e-5))))
    normal = build.Div(away, deviation)
    # The standard rounds to the type of the input before it scales.
    result = build.Mul(like(build, x, normal), node.need(1))
    bias = node.input(2)
    if bias is not None:
        result = build.Add(result, bias)
    results: list[Value | None] = [result, None, None]
    for place in (1, 2):
        old = node.output(place)
        if old is not None and old.is_used:
            value = middle if place == 1 else build.Reciprocal(deviation)
            same = not old.elem_type or old.elem_type == value.elem_type
            results[place] = value if same else build.Cast(value, to=old.elem_type)
    return tuple(results[: len(node.outputs)])
