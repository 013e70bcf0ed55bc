"""Take a Cast that lies outside of the subgraph whose tensor it reads for a node of that subgraph.

What it does: A Cast that reads what nothing around it defines, but a branch of an If or the body
    of a Loop or Scan does, and whose result only such subgraphs read, is in each of these.
Why engines need it: onnxruntime refuses the file ("Node input ... is not a graph input,
    initializer, or output of a previous node"). Converters to float16 put casts of subgraphs there.
Before:
    y = If (c) <then_branch: b = Relu (x)  out = Neg (f)>
    f = Cast <to = 1> (b)
After:
    y = If (c) <then_branch: b = Relu (x)  f = Cast <to = 1> (b)  out = Neg (f)>
When it refuses: Where another node than a Cast reads what is lost, where a node next to it reads
    what it writes, or a body that does not define what it reads, the file is no model (exit
    code 3).
Accuracy: Mended: the file has no meaning to compare with, see docs/mended.md. Exit code 0 needs
    --allow-mended.
References: microsoft/onnxconverter-common#260 ("it should be inside the sub-graph");
    https://onnx.ai/onnx/repo-docs/IR.html#names-within-a-graph
"""

from graphfix.authoring import MENDED, PREPARE, Editor, NodeRef, graph_pass


@graph_pass(stage=PREPARE, removes="model:misplaced-node", accuracy=MENDED)
def nodes_into_subgraphs(editor: Editor) -> None:
    """Say of each Cast where it was read to be; the file was read so, see the module."""
    for name in editor.model.misplaced:
        said = (
            f"the Cast that writes {name} is read as a node of the subgraph whose tensor it reads"
        )
        editor.record(NodeRef(op="Cast", outputs=(name,)), said)
    editor.model.misplaced = ()
