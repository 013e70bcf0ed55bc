"""Give nodes of one graph names of their own.

What it does: Renames every node that bears the name of one before it in the same graph or body;
    names of tensors, inputs and outputs stay.
Why engines need it: onnxruntime refuses the file: "This is an invalid model. Error: two nodes with
    same node name (conv)". Tools that copy a part of a graph write such files.
Before:
    conv: h = Conv (x, w)
    conv: y = Conv (h, w)
After:
    conv:   h = Conv (x, w)
    conv_1: y = Conv (h, w)
When it refuses: Never.
Accuracy: Exact: names of nodes mean nothing.
References: Graph::VerifyNoDuplicateName in onnxruntime/core/graph/graph.cc
"""

from graphfix.authoring import PREPARE, Editor, NodeView, graph_pass
from graphfix.validity.declarations import repeated_nodes


@graph_pass(stage=PREPARE, removes="model:repeated-node-name")
def repeated_node_names(editor: Editor) -> None:
    """Look at every scope."""
    for graph in editor.graphs():
        seen: set[str] = set()
        repeated = {id(node) for node, _ in repeated_nodes(graph)}
        for node in graph.nodes:
            if node.name and node.name in seen and id(node) not in repeated:
                where = NodeView(node).ref()
                node.name = editor.workspace.node_name(node.name)
                editor.record_number(where, f"the second {where.name} is called {node.name} now")
            seen.add(node.name)
