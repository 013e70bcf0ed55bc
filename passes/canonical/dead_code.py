"""Remove nodes whose results nothing uses.

What it does: Removes every node none of whose outputs is used by another node or returned by a
    graph or body, and then those that only fed it. The measure that it lowers is the number of
    nodes.
Why engines need it: A parser imports dead nodes as well, and rejects a model for an operator that
    does not matter.
Before:
    a = Relu (x)
    b = NonZero (a)
    y = Neg (a)          # the only output
After:
    a = Relu (x)
    y = Neg (a)
When it refuses: Never. Inputs, outputs and initializers of the file stay, also those that nothing
    uses.
Accuracy: Exact.
References: https://onnx.ai/onnx/repo-docs/IR.html (nodes have no side effects)
"""

from graphfix.authoring import CANONICAL, Editor, NodeView, graph_pass


@graph_pass(stage=CANONICAL)
def dead_code(editor: Editor) -> None:
    """Walk every scope backwards, so that one walk finds whole chains."""
    for graph in reversed(editor.graphs()):
        for node in reversed(list(graph.nodes)):
            if not any(t.outputs or t.output_count for t in node.outputs):
                editor.remove([NodeView(node)])
