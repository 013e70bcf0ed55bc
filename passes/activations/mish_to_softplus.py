"""Replace Mish by Softplus, Tanh and Mul.

What it does: x times the hyperbolic tangent of the softplus of x, which is the definition of Mish.
Why engines need it: Mish came with opset 18; TensorRT and older runtimes do not know it.
Before: y = Mish (x)
After: y = Mul (x, Tanh (Softplus (x)))
When it refuses: Never.
Accuracy: Exact up to rounding.
References: https://onnx.ai/onnx/operators/onnx__Mish.html
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite


@rewrite("Mish", removes="op:Mish", emits="Mul Softplus Tanh")
def mish_to_softplus(node: NodeView, build: Builder) -> Value:
    """Multiply, see the module."""
    x = node.need(0)
    return build.Mul(x, build.Tanh(build.Softplus(x)))
