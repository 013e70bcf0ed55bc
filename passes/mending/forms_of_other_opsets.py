"""Read nodes that have the form of another opset than the file's as what they are in that.

What it does: Where a node has attributes or inputs that its operator does not have at the opset of
    the file, and has them at the opsets on one side of it, it is read in the nearest of these forms
    and written in the form of the file, as `--opset` would.
Why engines need it: onnxruntime and the ONNX checker refuse the file ("Unrecognized attribute: axes
    for operator ReduceSum"). Exporters and optimizers leave such nodes where the opset was moved
    and some node was not.
Before: y = ReduceSum <axes = [1]> (x)                     at opset 13
After: y = ReduceSum (x, axes)                             with axes: [1]
When it refuses: The opset of the whole file is another one, see `opset-import-correction`. The node
    has a form at older opsets and at newer ones; it has one at none; what was an input and is to be
    an attribute is computed. Only the operators of the kinds whose rule is `form` in
    `graphfix/validity/mending/kinds.toml` are read.
Accuracy: Mended: the file has no meaning to compare with. The result is compared with the file as
    it came, each node run at the opset whose form it has. Exit code 0 needs --allow-mended.
References: https://onnx.ai/onnx/repo-docs/Versioning.html
"""

from graphfix.authoring import MENDED, PREPARE, Editor, graph_pass
from graphfix.validity.mending.whole_files import reformed

from ._one_node import converted


@graph_pass(
    stage=PREPARE,
    removes="model:unknown-attribute model:input-count model:missing-attribute",
    emits="*::*",
    accuracy=MENDED,
)
def forms_of_other_opsets(editor: Editor) -> None:
    """Read the main graph and its subgraphs, see the module."""
    read = reformed(editor.model, converted)
    for node, reason in read.unclear:
        editor.refuse(node, reason)
    if read.places:
        editor.reload(read.proto)
    for place in read.places:
        editor.record(place.node, place.said)
