"""Output of branches of If by their shape what has no elements.

What it does: Writes what a branch gives without elements, whose sizes are all known, as
    ConstantOfShape of that shape. What computed it goes where nothing else reads it.
Why engines need it: OpenVINO reads a constant without elements as a vector, and its CPU plugin
    refuses an If whose branches seem to differ in rank: "CPU plug-in doesn't support If operation
    with dynamic rank". Decoders that optimum merges of two files give such constants for what the
    branch with a cache does not compute.
Before: y = If (c) <then_branch = { Constant {[0, 4, 1, 8]} }, else_branch = ...>
After: y = If (c) <then_branch = { ConstantOfShape ([0, 4, 1, 8]) }, else_branch = ...>
When it refuses: The element type is none that ConstantOfShape gives, or the opset is below 9. A
    tensor that a node around the branch computes, or that is stored there, is left alone.
Accuracy: Exact: there is no element.
References: asked of OpenVINO 2026.4.1 https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html
"""

from functools import partial

import numpy as np

from graphfix.authoring import (
    Builder,
    Editor,
    Graph,
    Node,
    NodeView,
    Refuse,
    Value,
    Variable,
    graph_pass,
)

_SINCE = 9
_KINDS = "bfiu"  # bool, floats and integers


@graph_pass(removes="form:If.empty-constant", emits="ConstantOfShape", claims="nan inf")
def empty_branch_results_by_shape(editor: Editor) -> None:
    """Look at what every branch gives."""
    for graph in editor.graphs():
        if graph.parent is None or graph.parent.op != "If" or graph.parent.domain:
            continue
        for place in range(len(graph.outputs)):
            if 0 not in (Value(graph.outputs[place]).static_shape or ()):
                continue
            _copy_stored(editor, graph, place)
            end = Value(graph.outputs[place])
            maker = end.producer
            if maker is None or maker.graph is not graph or maker.op == "ConstantOfShape":
                continue
            if len(maker.outputs) == 1:
                editor.replace(maker, partial(_by_shape, maker, end))


def _copy_stored(editor: Editor, graph: Graph, place: int) -> None:
    """Let a node of the branch give what is stored there, as quantizers store constants."""
    stored = graph.outputs[place]
    end = Value(stored)
    if graph.opsets.get("", 0) < _SINCE or end.dtype is None or end.dtype.kind not in _KINDS:
        return
    if all(constant is not stored for constant in graph.initializers):
        return
    node = Node("Identity", graph, name=editor.workspace.node_name(f"{end.name}/Identity"))
    name = editor.workspace.tensor_name(f"{end.name}/shaped")
    given = Variable(name, stored.elem_type, stored.shape)
    graph.nodes.append(node)
    node.attach([stored], [given])
    outputs = list(graph.outputs)
    outputs[place] = given
    graph.set_outputs(outputs)


def _by_shape(maker: NodeView, end: Value, build: Builder) -> tuple[Value | None, ...]:
    dtype = end.dtype
    if build.opset < _SINCE:
        raise Refuse(f"ConstantOfShape is of opset {_SINCE}; the model has {build.opset}")
    if dtype is None or dtype.kind not in _KINDS:
        raise Refuse(f"{end.name} must be numbers or bools; it is {end.type_name or 'unknown'}")
    shape = build.constant(np.array(end.static_shape, np.int64))
    return (build.ConstantOfShape(shape, value=np.zeros(1, dtype)),)
