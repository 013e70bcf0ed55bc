"""Put the nodes of every graph in an order in which each comes after what it uses.

What it does: Sorts the nodes of each scope; nodes that need not move keep their order. What the
    subgraphs of a node capture counts as used by the node.
Why engines need it: ONNX asks for sorted nodes; onnxruntime and most converters refuse a file
    without.
Before:
    y = Neg (a)
    a = Relu (x)
After:
    a = Relu (x)
    y = Neg (a)
When it refuses: Never; a cycle makes the file invalid, and the run ends with exit code 3.
Accuracy: Exact.
References: https://onnx.ai/onnx/repo-docs/IR.html#graphs
"""

from graphfix.authoring import PREPARE, Editor, NodeView, first_misplaced, graph_pass, sort_graph


@graph_pass(stage=PREPARE, removes="model:unsorted")
def sort_nodes(editor: Editor) -> None:
    """Sort every scope that needs it."""
    for graph in editor.graphs():
        misplaced = first_misplaced(graph)
        if misplaced is not None:
            editor.record(NodeView(misplaced).ref(), "the nodes of the scope were put in order")
            sort_graph(graph)
