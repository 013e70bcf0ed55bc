"""Take the larger of the input of a Conv and itself.

What it does: Puts a Max of a tensor and itself before a Conv. What is computed stays bit for bit
    what it was; only the pattern is another one.
Why engines need it: OpenVINO computes a product by a constant before a Conv within the filters, and
    multiplies these along their own axes where the constant has the sizes of a filter, without a
    word.
Before: y = Conv (Mul (x, c), w)                               # c: [3], w: [2, 3, 3, 3]
After: y = Conv (Max (Mul (x, c), Mul (x, c)), w)              # the product is computed once
When it refuses: The input is the result of Max already.
Accuracy: Exact: the larger of two equal numbers is that number, and of two NaN it is NaN.
References: https://onnx.ai/onnx/operators/onnx__Max.html; measured on OpenVINO 2026.4.1
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("Conv", removes="form:Conv.scaled-input", emits="Conv Max", since=8, claims="nan inf")
def conv_input_through_max(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Compare the input with itself, see the module."""
    x = node.need(0)
    if x.producer is not None and x.producer.op == "Max":
        raise Refuse("the input must be the result of another operator than Max; it is not")
    return respell(node, build, X=build.Max(x, x))
