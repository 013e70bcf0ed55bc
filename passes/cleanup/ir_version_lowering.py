"""Lower the IR version to what the model needs.

What it does: Sets the IR version to the oldest one that may carry the opset and everything in the
    file: initializers that are no inputs (4), local functions (8), float8 (9), overloaded functions
    and 4-bit integers (10), float4 (11), float8e8m0 (12), 2-bit integers (13).
Why engines need it: onnxruntime refuses a file with a newer IR version than it knows, and exporters
    write their newest one, whatever the opset.
Before: ir_version: 10, opset_import: ["" : 13]
After: ir_version: 7, opset_import: ["" : 13]
When it refuses: Never; a model that needs its IR version is left alone.
Accuracy: Exact. What newer IR versions added beyond this (metadata of nodes and graphs, device
    configurations) says nothing about what is computed, and readers of protobuf skip it.
References: https://onnx.ai/onnx/repo-docs/Versioning.html, onnx/onnx onnx/onnx.proto (enum Version)
"""

from graphfix.authoring import Editor, NodeRef, graph_pass
from graphfix.opset.formats import needed_ir


@graph_pass(removes="ir:too-high")
def ir_version_lowering(editor: Editor) -> None:
    """Lower one number."""
    model = editor.model
    needed = needed_ir(model)
    if needed < model.ir_version:
        editor.record_number(NodeRef(), f"IR version {model.ir_version} becomes {needed}")
        model.ir_version = needed
