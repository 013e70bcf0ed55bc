"""Put the HardSigmoid of a number before the number it is multiplied by.

What it does: Exchanges the operands of a Mul of a tensor by its own HardSigmoid.
Why engines need it: QNN joins x * HardSigmoid(x) to one layer, and computes other values, by as
    much as they are; with the HardSigmoid first it is right.
Before: y = Mul (x, HardSigmoid (x))
After: y = Mul (HardSigmoid (x), x)
When it refuses: The second operand is no HardSigmoid of the first one; the opset is below 7, where
    the second one alone is repeated.
Accuracy: Exact: a product does not depend on the order of two numbers.
References: https://onnx.ai/onnx/operators/onnx__Mul.html; measured with onnxruntime-qnn 2.7.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Mul", removes="form:Mul.hard-sigmoid", emits="Mul", since=7, claims="nan inf")
def hardsigmoid_factor_first(node: NodeView, build: Builder) -> Value:
    """Exchange the operands, see the module."""
    number, gate = node.need(0), node.need(1)
    maker = gate.producer
    if maker is None or maker.op != "HardSigmoid" or maker.input(0) != number:
        raise Refuse("the second operand must be the HardSigmoid of the first one; it is not")
    return build.Mul(gate, number)
