"""Replace CastLike by Cast.

What it does: Writes the element type of the second input as the `to` of a Cast.
Why engines need it: CastLike came with opset 15 as a help for function bodies; engines that read
    graphs alone never learned it.
Before: y = CastLike (x, like)
After: y = Cast <to = 1> (x)
When it refuses: The element type of the second input is unknown.
Accuracy: Exact: both convert by the same rules.
References: https://onnx.ai/onnx/operators/onnx__CastLike.html
"""

from graphfix.authoring import Builder, NodeView, Value, need_elem_type, rewrite


@rewrite("CastLike", removes="op:CastLike", emits="Cast")
def castlike_to_cast(node: NodeView, build: Builder) -> Value:
    """Write the type down, see the module."""
    like = node.need(1)
    need_elem_type(like)
    return build.Cast(
        node.need(0),
        to=like.elem_type,
        saturate=node.attr("saturate"),
        round_mode=node.attr("round_mode"),
    )
