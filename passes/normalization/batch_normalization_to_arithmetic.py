"""Write BatchNormalization as arithmetic.

What it does: Writes out (x - mean) / sqrt (variance + epsilon) * scale + bias, with the parameters
    reshaped so that they are along axis 1. In training mode, mean and variance are those of x,
    and the running ones, which are outputs too, go towards them by 1 - momentum.
Why engines need it: tract and other engines take parameters that are constants alone: "Params are
    not const"; TensorRT refuses training mode. Exporters of TensorFlow write the layer
    normalization of a Keras model so, with means that are computed.
Before: y = BatchNormalization <epsilon = 1e-5> (x, scale, bias, mean, variance)
After: y = Add (Mul (Div (Sub (x, m), Sqrt (Add (v, 1e-5))), s), b)
When it refuses: The rank is not known, or the element types of input and parameters differ; below
    opset 14, it gives more than one output.
Accuracy: Exact up to rounding.
References: https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
"""

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_rank, rewrite


@rewrite(
    "BatchNormalization",
    removes="op:BatchNormalization const:BatchNormalization.* rank:BatchNormalization.*",
    emits="Add Div Mul Reshape Sqrt Sub",
    since=9,
)
def batch_normalization_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Subtract, divide, scale and shift, see the module."""
    x = node.need(0)
    if node.attr("training_mode", 0) or any(value is not None for value in node.outputs[1:]):
        raise Refuse("the node must have one output; it returns statistics as well")
    parameters = [node.need(place) for place in range(1, 5)]
    if x.dtype is None or any(value.dtype != x.dtype for value in parameters):
        raise Refuse(
            "all element types must be the same and known; they are"
            f" {', '.join(value.type_name for value in (x, *parameters))}"
        )
    rank = need_rank(x)
    if rank < 2:
        raise Refuse(f"the input must have channels; its rank is {rank}")
    shape = _of_channels(rank)
    scale, bias, mean, variance = (build.Reshape(value, shape) for value in parameters)
    deviation = build.Sqrt(build.Add(variance, float(node.attr("epsilon", 1e-5))))
    return build.Add(build.Mul(build.Div(build.Sub(x, mean), deviation), scale), bias)


@rewrite(
    "BatchNormalization",
    removes="attr:BatchNormalization.training_mode",
    emits="Add Div Mul ReduceMean Reshape Sqrt Sub",
    since=14,
)
def batch_normalization_by_its_own_mean(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write BatchNormalization in training mode: by mean and variance of what it normalizes."""
    x = node.need(0)
    if not node.attr("training_mode", 0):
        raise Refuse("it must be in training mode; it is not")
    scale, bias, mean, variance = (node.need(place) for place in range(1, 5))
    if x.dtype is None or any(v.dtype != x.dtype for v in (scale, bias, mean, variance)):
        raise Refuse(
            "all element types must be the same and known; they are"
            f" {', '.join(value.type_name for value in (x, scale, bias, mean, variance))}"
        )
    rank = need_rank(x)
    if rank < 2:
        raise Refuse(f"the input must have channels; its rank is {rank}")
    axes = [0, *range(2, rank)]
    shape = _of_channels(rank)
    center = build.ReduceMean(x, axes=axes, keepdims=1)
    away = build.Sub(x, center)
    spread = build.ReduceMean(build.Mul(away, away), axes=axes, keepdims=1)
    deviation = build.Sqrt(build.Add(spread, float(node.attr("epsilon", 1e-5))))
    scaled = build.Mul(build.Div(away, deviation), build.Reshape(scale, shape))
    results: list[Value | None] = [build.Add(scaled, build.Reshape(bias, shape))]
    momentum = float(node.attr("momentum", 0.9))
    flat = np.array([-1], np.int64)
    running = zip(node.outputs[1:], ((mean, center), (variance, spread)), strict=False)
    for output, (before, now) in running:
        if output is None or not output.is_used:
            results.append(None)
            continue
        fresh = build.Mul(build.Reshape(now, flat), 1 - momentum)
        results.append(build.Add(build.Mul(before, momentum), fresh))
    return tuple(results)


def _of_channels(rank: int) -> Array:
    """Return the sizes of parameters next to channels, of the same rank: ncnn repeats others."""
    return np.array([1, -1, *[1] * (rank - 2)], np.int64)
