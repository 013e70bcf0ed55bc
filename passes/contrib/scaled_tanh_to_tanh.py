"""Replace ScaledTanh by Tanh and two products.

What it does: ScaledTanh is alpha tanh(beta x).
Why engines need it: onnx dropped it in 1.5, and onnxruntime knows it below opset 10 alone. Old
    exporters of Caffe2, CoreML and Keras wrote it.
Before: y = ScaledTanh <alpha = 2, beta = 0.5> (x)
After: y = Mul (Tanh (Mul (x, 0.5)), 2)
When it refuses: The type of the input is not float32 or float16; alpha or beta, which have no
    default, is missing.
Accuracy: Exact up to rounding.
References: onnx/defs/experiments/defs.cc of onnx 1.4
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._experiments import Array, Attributes, factor, given


def evaluate(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute alpha tanh(beta x)."""
    x = given(inputs)
    alpha, beta = (x.dtype.type(attributes[name]) for name in ("alpha", "beta"))
    return (np.asarray(alpha * np.tanh(beta * x)),)


@rewrite("ScaledTanh", removes="op:ScaledTanh", emits="Mul Tanh", evaluate=evaluate)
def scaled_tanh_to_tanh(node: NodeView, build: Builder) -> Value:
    """Multiply before and after Tanh, see the module."""
    inner = build.Tanh(build.Mul(node.need(0), factor(node, "beta")))
    return build.Mul(inner, factor(node, "alpha"))
