"""Put the constant of a product last.

What it does: Exchanges the operands of a Mul whose first one is a constant.
Why engines need it: OpenCV 5 joins a normalisation that is written out to one layer and takes the
    second operand of its last Mul for the weights without looking: "LayerNorm2: weight rank
    mismatch".
Before: y = Mul (k, x)               # k: a constant
After: y = Mul (x, k)
When it refuses: The first operand is no constant, or the second is one too; the opset is below 7,
    where the second one alone is repeated.
Accuracy: Exact: a product does not depend on the order of two numbers.
References: https://onnx.ai/onnx/operators/onnx__Mul.html; opencv/opencv
    modules/dnn/src/layers/layer_norm2.cpp:53 (5.0.0)
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Mul", removes="form:Mul.constant-first", emits="Mul", since=7, claims="nan inf")
def mul_constant_last(node: NodeView, build: Builder) -> Value:
    """Exchange the operands, see the module."""
    first, second = node.need(0), node.need(1)
    if not first.is_constant or second.is_constant:
        raise Refuse("the first operand alone must be a constant; it is not")
    return build.Mul(second, first)
