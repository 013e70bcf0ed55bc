"""Add one in a Gelu by subtracting minus one.

What it does: Writes the Add after Erf as a Sub of the negated constant: e + 1 is e - (-1). What is
    computed stays bit for bit what it was; only the pattern is another one.
Why engines need it: OpenCV fuses Div, Erf, Add, Mul and Mul to a Gelu, and takes the second inputs
    of Div, Add and the last Mul for constants without looking: where the factors are in another
    order, as newer exporters write them, x * (0.5 * (1 + erf)), its process ends by SIGSEGV. MNN
    fuses the order of older ones, x * (erf + 1) * 0.5, and computes it by an approximation that is
    off by 5e-4.
Before:
    e = Erf (d)
    a = Add (e, one)
After:
    e = Erf (d)
    a = Sub (e, minus_one)
When it refuses: Neither operand of Add is the output of an Erf next to a constant; the numbers are
    no floats.
Accuracy: Exact: the negation of a float is exact, and so is a - (-b) = a + b.
References: https://onnx.ai/onnx/operators/onnx__Sub.html; opencv/opencv 4.x
    modules/dnn/src/onnx/onnx_graph_simplifier.cpp (GeluSubGraph); measured on MNN 3.6.1
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Add", removes="form:Add.of-erf", emits="Sub", claims="nan inf")
def gelu_add_to_sub(node: NodeView, build: Builder) -> Value:
    """Subtract the negated constant, see the module."""
    first, second = node.need(0), node.need(1)
    if second.producer is not None and second.producer.op == "Erf":
        first, second = second, first
    if first.producer is None or first.producer.op != "Erf":
        raise Refuse("one operand must be the output of Erf; none does")
    added = build.need_const(second, "the other operand")
    if added.dtype.kind != "f":
        raise Refuse(f"{second.name} must be floats; it is {second.type_name}")
    return build.Sub(first, -added)
