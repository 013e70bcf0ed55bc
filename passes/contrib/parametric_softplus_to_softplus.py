"""Replace ParametricSoftplus by Softplus and two products.

What it does: ParametricSoftplus is alpha softplus(beta x).
Why engines need it: onnx dropped it in 1.5, and onnxruntime knows it below opset 10 alone. Old
    exporters of Caffe2, CoreML and Keras wrote it.
Before: y = ParametricSoftplus <alpha = 2, beta = 0.5> (x)
After: y = Mul (Softplus (Mul (x, 0.5)), 2)
When it refuses: The type of the input is not float32 or float16; alpha or beta, which have no
    default, is missing.
Accuracy: Exact up to rounding.
References: onnx/defs/experiments/defs.cc of onnx 1.4
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._experiments import Array, Attributes, factor, given


def evaluate(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute alpha softplus(beta x)."""
    x = given(inputs)
    alpha, beta = (x.dtype.type(attributes[name]) for name in ("alpha", "beta"))
    return (np.asarray(alpha * np.logaddexp(beta * x, x.dtype.type(0))),)


@rewrite(
    "ParametricSoftplus",
    removes="op:ParametricSoftplus",
    emits="Mul Softplus",
    evaluate=evaluate,
)
def parametric_softplus_to_softplus(node: NodeView, build: Builder) -> Value:
    """Multiply before and after Softplus, see the module."""
    inner = build.Softplus(build.Mul(node.need(0), factor(node, "beta")))
    return build.Mul(inner, factor(node, "alpha"))
