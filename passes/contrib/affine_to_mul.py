"""Replace Affine by a product and a sum.

What it does: Affine is alpha x + beta; alpha is 1 and beta 0 where they are not given.
Why engines need it: onnx dropped it in 1.5, and onnxruntime knows it below opset 10 alone. Old
    exporters of Caffe2, CoreML and Keras wrote it.
Before: y = Affine <alpha = 2, beta = 1> (x)
After: y = Add (Mul (x, 2), 1)
When it refuses: The type of the input is not float32 or float16.
Accuracy: Exact up to rounding.
References: onnx/defs/experiments/defs.cc of onnx 1.4
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._experiments import Array, Attributes, factor, given


def evaluate(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute alpha x + beta."""
    x = given(inputs)
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 0.0)
    return (np.asarray(x * x.dtype.type(alpha) + x.dtype.type(beta)),)


@rewrite("Affine", removes="op:Affine", emits="Mul Add", evaluate=evaluate)
def affine_to_mul(node: NodeView, build: Builder) -> Value:
    """Multiply and add, see the module."""
    scaled = build.Mul(node.need(0), factor(node, "alpha", 1.0))
    return build.Add(scaled, factor(node, "beta", 0.0))
