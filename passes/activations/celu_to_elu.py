"""Replace Celu by Relu and Elu.

What it does: The positive part of x, plus Elu of the negative part divided by alpha.
Why engines need it: Celu came with opset 12; TensorRT has it from 8.0 on.
Before: y = Celu <alpha = 2.0> (x)
After: y = Add (Relu (x), Elu <alpha = 2.0> (Div (Min (x, 0), 2.0)))
When it refuses: alpha is not above 0: below it the function is another one.
Accuracy: Exact up to rounding; NaN stays NaN.
References: https://onnx.ai/onnx/operators/onnx__Celu.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Celu", removes="op:Celu", emits="Add Div Elu Min Relu", claims="nan")
def celu_to_elu(node: NodeView, build: Builder) -> Value:
    """Add both parts, see the module."""
    x, alpha = node.need(0), float(node.attr("alpha", 1.0))
    if not 0 < alpha < float("inf"):
        raise Refuse(f"alpha must be above 0; it is {alpha:g}")
    below = build.Div(build.Min(x, 0), alpha)
    return build.Add(build.Relu(x), build.Elu(below, alpha=alpha))
