"""Leave out nodes that are there twice, with all that they read and write.

What it does: Of nodes of one graph that have the same operator, attributes, inputs and outputs, the
    first stays. Its name stays too.
Why engines need it: A name is to be written once; onnxruntime refuses the file ("Duplicate
    definition of name"). Tools that join graphs, or rewrite one in two places, leave such nodes.
Before:
    a = Relu (x)
    a = Relu (x)
    y = Neg (a)
After:
    a = Relu (x)
    y = Neg (a)
When it refuses: Nodes that differ in anything, that draw at random or have subgraphs are no model:
    the file does not say which of them is meant.
Accuracy: Mended: the file has no meaning to compare with, see docs/mended.md. Exit code 0 needs
    --allow-mended.
References: https://onnx.ai/onnx/repo-docs/IR.html#nodes (single static assignment);
    microsoft/onnxruntime onnxruntime/core/graph/graph.cc (VerifyNoDuplicateName)
"""

from graphfix.authoring import MENDED, PREPARE, Editor, NodeView, graph_pass
from graphfix.validity.declarations import repeated_nodes


@graph_pass(stage=PREPARE, removes="model:repeated-node", accuracy=MENDED)
def repeated_nodes_once(editor: Editor) -> None:
    """Look at every scope, see the module."""
    for graph in editor.graphs():
        for node, first in list(repeated_nodes(graph)):
            written = ", ".join(tensor.name for tensor in node.outputs if tensor.name)
            note = f"{first.op} is there twice and writes {written} twice: it is read once"
            editor.remove([NodeView(node)], note)
