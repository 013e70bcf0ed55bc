"""Replace HardSwish by Mul and HardSigmoid.

What it does: x times HardSigmoid of x with alpha 1/6 and beta 1/2, which is the definition of
    HardSwish.
Why engines need it: HardSwish came with opset 14; TensorRT has it from 8.4 on.
Before: y = HardSwish (x)
After: y = Mul (x, HardSigmoid <alpha = 0.1666667, beta = 0.5> (x))
When it refuses: Never.
Accuracy: Exact up to rounding; NaN stays NaN, and minus infinity gives NaN as it did.
References: https://onnx.ai/onnx/operators/onnx__HardSwish.html
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite


@rewrite("HardSwish", removes="op:HardSwish", emits="HardSigmoid Mul", claims="nan inf")
def hardswish_to_hardsigmoid(node: NodeView, build: Builder) -> Value:
    """Multiply, see the module."""
    x = node.need(0)
    return build.Mul(x, build.HardSigmoid(x, alpha=1 / 6, beta=0.5))
