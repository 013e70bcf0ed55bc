"""Drop constants whose name a later one bears.

What it does: Of initializers and Constant nodes that have one name in one scope, keeps the last
    one, Constant nodes after initializers, and drops the others.
Why engines need it: ONNX asks that each name is written once. TensorRT refuses the file ("Output
    name is not unique"); onnxruntime warns and takes the last one.
Before:
    two = Constant <value = 2> ()
    y = Mul (x, two)
    two = Constant <value = 2> ()
After:
    y = Mul (x, two)
    two = Constant <value = 2> ()
When it refuses: An initializer that is also an input of the graph, and whose name a Constant node
    bears, stays.
Accuracy: Exact: what onnxruntime computes with the file as it is. Where the values differ, a
    finding says so.
References: microsoft/onnxruntime onnxruntime/core/graph/graph.cc (Duplicate initializer)
"""

from graphfix.authoring import (
    PREPARE,
    Constant,
    Editor,
    Graph,
    NodeRef,
    NodeView,
    graph_pass,
    normal_domain,
)


@graph_pass(stage=PREPARE, removes="model:duplicate-name")
def repeated_constants(editor: Editor) -> None:
    """Look at every scope."""
    for graph in editor.graphs():
        constants = [n for n in graph.nodes if n.op == "Constant" and not normal_domain(n.domain)]
        last: dict[str, object] = {stored.name: stored for stored in graph.initializers}
        last.update((node.outputs[0].name, node) for node in constants)
        inputs = {id(tensor) for tensor in graph.inputs}
        for stored in list(graph.initializers):
            if last[stored.name] is not stored and id(stored) not in inputs:
                _drop(editor, graph, stored)
        for node in constants:
            if last[node.outputs[0].name] is not node:
                editor.remove([NodeView(node)])


def _drop(editor: Editor, graph: Graph, stored: Constant) -> None:
    graph.initializers = [kept for kept in graph.initializers if kept is not stored]
    where = NodeRef(outputs=(stored.name,), scope=graph.scope)
    editor.record_number(where, f"the initializer {stored.name} is dropped for the later one")
