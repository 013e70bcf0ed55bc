"""Replace GreaterOrEqual and LessOrEqual by two comparisons.

What it does: Greater or Less, or Equal.
Why engines need it: Both came with opset 12; TensorRT has them from 7.2 on.
Before: y = GreaterOrEqual (a, b)
After: y = Or (Greater (a, b), Equal (a, b))
When it refuses: Never.
Accuracy: Exact; a comparison with NaN is false.
References: https://onnx.ai/onnx/operators/onnx__GreaterOrEqual.html;
    https://onnx.ai/onnx/operators/onnx__LessOrEqual.html
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite


@rewrite(
    ("GreaterOrEqual", "LessOrEqual"),
    removes="op:GreaterOrEqual op:LessOrEqual",
    emits="Equal Greater Less Or",
    claims="nan inf",
)
def or_equal_to_or(node: NodeView, build: Builder) -> Value:
    """Compare twice, see the module."""
    a, b = node.need(0), node.need(1)
    compare = build.Greater if node.op == "GreaterOrEqual" else build.Less
    return build.Or(compare(a, b), build.Equal(a, b))
