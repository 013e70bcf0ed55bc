"""Declare the element type of what a Loop carries along, where its body leaves it out.

What it does: Writes the type that inference knows into the declaration of the input of the body,
    and the shape where that is known, too.
Why engines need it: OpenVINO 2026.4 goes by what is declared, and its reductions, Pad, some
    activations and the bounds of its Slice want a type. PyTorch's exporter leaves it out.
Before: body (int64 i, bool c, s) { r = ReduceSum (s) ... }
After: body (int64 i, bool c, float s) { r = ReduceSum (s) ... }
When it refuses: Inference does not know the type. It leaves alone what is no tensor.
Accuracy: Exact: nothing that is computed changes.
References: https://onnx.ai/onnx/operators/onnx__Loop.html; openvino 2026.4.1, measured
"""

from graphfix.authoring import Editor, NodeRef, NodeView, Value, Variable, graph_pass, make_info

_GIVEN = 2  # the number of the round and the condition


@graph_pass(removes="form:Loop.untyped-state")
def loop_state_declaration(editor: Editor) -> None:
    """Look at the subgraphs of loops."""
    for graph in editor.graphs():
        loop = graph.parent
        if loop is None or loop.op != "Loop":
            continue
        for tensor in graph.inputs[_GIVEN:]:
            if not isinstance(tensor, Variable) or tensor.opaque is not None:
                continue
            if tensor.info is not None and tensor.info.type.WhichOneof("value"):
                continue
            if not tensor.elem_type:
                editor.refuse(NodeView(loop), f"the type of {tensor.name} must be known")
                continue
            tensor.info = make_info(tensor)
            said = f"declared as {Value(tensor).type_name}"
            editor.record_number(NodeRef(outputs=(tensor.name,), scope=graph.scope), said)
