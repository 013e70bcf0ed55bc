"""Write a model that came as a text in the binary form.

What it does: Nothing to the graph: what protobuf wrote as a text (.pbtxt, .prototxt, or .onnx all
    the same) is written as the message that the text says.
Why engines need it: Engines read the binary form alone; onnx.load reads a text only where its name
    says so.
Before: graph { node { input: "x"  output: "y"  op_type: "Relu" } ... }
After: the same message, in the binary form
When it refuses: Never. A text that says no model is not read.
Accuracy: Exact: nothing is changed.
References: https://protobuf.dev/reference/protobuf/textformat-spec/
"""

from graphfix.authoring import PREPARE, Editor, NodeRef, graph_pass


@graph_pass(stage=PREPARE, removes="model:text-form", looks_at=["file:text"])
def text_form_to_binary(editor: Editor) -> None:
    """Let it be written as a message."""
    if editor.model.is_text:
        editor.record_number(NodeRef(), "the text becomes a message")
        editor.model.is_text = False
