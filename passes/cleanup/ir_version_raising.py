"""Raise the IR version of a file whose subgraphs read constants that it may not have.

What it does: Sets the IR version to 4 where it is older, initializers are no inputs of the model,
    and nodes have subgraphs.
Why engines need it: Before version 4 every initializer had to be an input. onnxruntime lets others
    pass in a graph without subgraphs; from a branch it does not find them ("initializer_arg was
    false. Graph ctor should have created NodeArg"). Tools that drop the inputs and leave the
    version write such files.
Before: ir_version: 3, inputs: x, initializers: w
After: ir_version: 4, inputs: x, initializers: w
When it refuses: Some initializers are inputs: from version 4 on a caller may replace these.
Accuracy: Exact: an initializer that is no input is a constant, whatever the version.
References: https://onnx.ai/onnx/repo-docs/IR.html#graphs; microsoft/onnxruntime
    onnxruntime/core/graph/graph.cc (InitializeStateFromModelFileGraphProto)
"""

from graphfix.authoring import PREPARE, Editor, NodeRef, Refuse, graph_pass

FIRST = 4


@graph_pass(stage=PREPARE, looks_at=["ir:3"])
def ir_version_raising(editor: Editor) -> None:
    """Look at the main graph."""
    model = editor.model
    if all(False for node in model.graph.nodes for _ in node.graphs()):
        return
    given = {tensor.name for tensor in model.graph.inputs}
    listed = [constant.name in given for constant in model.graph.initializers]
    if all(listed):
        return
    if any(listed):
        raise Refuse("the initializers must all be inputs or none; the inputs would be optional")
    editor.record_number(NodeRef(), f"IR version {model.ir_version} becomes {FIRST}")
    model.ir_version = FIRST
