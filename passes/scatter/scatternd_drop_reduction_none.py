"""Drop the attribute reduction="none" of ScatterND, which is the default.

What it does: Writes the node without the attribute.
Why engines need it: TensorRT 10.0 to 10.8 refuses ScatterND as soon as the attribute is there,
    whatever it says.
Before: y = ScatterND <reduction = "none"> (x, indices, updates)
After: y = ScatterND (x, indices, updates)
When it refuses: Any other reduction. A node without the attribute has nothing to drop.
Accuracy: Exact: none is the default.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html;
onnx/onnx-tensorrt 10.0 onnxOpCheckers.cpp (checkScatterND).
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._indices import reduction_of


@rewrite("ScatterND", removes="attr:ScatterND.reduction=none", emits="ScatterND", since=16)
def scatternd_drop_reduction_none(node: NodeView, build: Builder) -> Value:
    """Return the same scatter without the attribute."""
    if not node.has("reduction"):
        raise Refuse("the attribute must be written; it is not")
    if reduction_of(node) != "none":
        raise Refuse(f"the reduction must be none; it is {reduction_of(node)}")
    return build.ScatterND(node.need(0), node.need(1), node.need(2))
