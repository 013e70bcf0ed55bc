"""Replace Scatter, deprecated since opset 11, by ScatterElements.

What it does: Writes the node under its new name; inputs and axis are the same.
Why engines need it:
Opset 11 renamed Scatter to ScatterElements; engines and checkers that know only the new name, or
only opset 11 and newer, refuse the old one.
Before: y = Scatter <axis = 1> (data, indices, updates)
After: y = ScatterElements <axis = 1> (data, indices, updates)
When it refuses: Below opset 11, where ScatterElements does not exist.
Accuracy: Exact: ScatterElements of opset 11 takes all that Scatter took, and negative indices
    as well.
References: https://onnx.ai/onnx/operators/onnx__Scatter.html, onnx__ScatterElements.html.
"""

from graphfix.authoring import Builder, NodeView, Value, like_first, rewrite


@rewrite(
    "Scatter",
    removes="op:Scatter model:deprecated-operator",
    emits="ScatterElements",
    since=9,
    infer=like_first,
)
def scatter_to_scatterelements(node: NodeView, build: Builder) -> Value:
    """Return the same scatter under its new name."""
    axis = int(node.attr("axis", 0))
    return build.ScatterElements(node.need(0), node.need(1), node.need(2), axis=axis)
