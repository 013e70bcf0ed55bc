"""Write BatchNormalization as arithmetic.

What it does:
    Writes out (x - mean) / sqrt (variance + epsilon) * scale + bias, with the parameters reshaped
    so that they stand along axis 1.

Why engines need it:
    tract and other engines take parameters that are constants alone: "Params are not const".
    Exporters of TensorFlow write the layer normalization of a Keras model so, with means that are
    computed.

Before:
    y = BatchNormalization <epsilon = 1e-5> (x, scale, bias, mean, variance)

After:
    y = Add (Mul (Div (Sub (x, m), Sqrt (Add (v, 1e-5))), s), b)

When it refuses:
    It is in training mode or gives more than one output, the rank is not known, or the element
    types of input and parameters differ.

Accuracy:
    Exact up to rounding.

References:
    https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite


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
        raise Refuse("it must give what it normalizes alone; it gives statistics as well")
    parameters = [node.need(place) for place in range(1, 5)]
    if x.dtype is None or any(value.dtype != x.dtype for value in parameters):
        raise Refuse("all element types must be the same and known")
    rank = need_rank(x)
    if rank < 2:
        raise Refuse(f"the input must have channels; its rank is {rank}")
    shape = np.array([-1, *[1] * (rank - 2)], np.int64)
    scale, bias, mean, variance = (build.Reshape(value, shape) for value in parameters)
    deviation = build.Sqrt(build.Add(variance, float(node.attr("epsilon", 1e-5))))
    return build.Add(build.Mul(build.Div(build.Sub(x, mean), deviation), scale), bias)
