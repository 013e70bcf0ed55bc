"""Leave out the axis of a Gather along the first axis.

What it does: Drops the attribute where it names what ONNX says for a node that has none.
Why engines need it: pnnx makes ncnn's Embed of a Gather of rows by indices that are fed, where no
    axis is written.
Before: y = Gather <axis = 0> (table, ids)
After: y = Gather (table, ids)
When it refuses: No axis is written, or another one.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Gather.html; Tencent/ncnn
    tools/pnnx/src/pass_level2/F_embedding.cpp, F_embedding_onnx
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("Gather", removes="attr:Gather.axis=0", emits="Gather", claims="nan inf")
def gather_axis_left_out(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Drop the attribute, see the module."""
    if not node.has("axis"):
        raise Refuse("the axis must be written; it is not")
    axis = int(node.attr("axis", 0))
    if axis:
        raise Refuse(f"the axis must be 0; it is {axis}")
    return respell(node, build, drop=("axis",))
