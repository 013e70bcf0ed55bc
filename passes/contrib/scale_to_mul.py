"""Replace Scale by a product.

What it does: Scale multiplies by a number, which is 1 where it is not given.
Why engines need it: onnx dropped it in 1.5, and onnxruntime knows it below opset 10 alone. Old
    exporters of Caffe2, CoreML and Keras wrote it.
Before: y = Scale <scale = 2> (x)
After: y = Mul (x, 2)
When it refuses: The type of the input is not float32 or float16.
Accuracy: Exact up to rounding.
References: onnx/defs/experiments/defs.cc of onnx 1.4
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._experiments import Array, Attributes, factor, given


def evaluate(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Compute a multiple of x."""
    x = given(inputs)
    return (np.asarray(x * x.dtype.type(attributes.get("scale", 1.0))),)


@rewrite("Scale", removes="op:Scale", emits="Mul", evaluate=evaluate)
def scale_to_mul(node: NodeView, build: Builder) -> Value:
    """Multiply, see the module."""
    return build.Mul(node.need(0), factor(node, "scale", 1.0))
