"""Leave out the attribute of a ScatterElements that says that nothing is reduced.

What it does: Writes the same scatter without reduction = none, which is what ONNX means without it.
Why engines need it: MNN forgets the axis where the attribute is before it, as PyTorch's newer
    exporter writes them, and scatters along the first.
Before: y = ScatterElements <reduction = "none", axis = 1> (x, i, u)
After: y = ScatterElements <axis = 1> (x, i, u)
When it refuses: There is another reduction, or none is written.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__ScatterElements.html; measured on MNN 3.6.1
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "ScatterElements",
    removes="attr:ScatterElements.reduction=none",
    emits="ScatterElements",
    since=16,
)
def scatterelements_drop_reduction_none(node: NodeView, build: Builder) -> Value:
    """Leave the attribute out."""
    how = node.attr("reduction", "")
    if how != "none":
        raise Refuse(f"the reduction must be none; it is {how or 'left out'}")
    inputs = (node.need(place) for place in range(3))
    return build.ScatterElements(*inputs, axis=int(node.attr("axis", 0)))
