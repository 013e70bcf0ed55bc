"""Giving out what the model as it came writes into one of its inputs."""

from __future__ import annotations

from onnx import TypeProto

from graphfix.authoring.declared_types import redeclare_type
from graphfix.authoring.editing import Editor
from graphfix.ir.graph import Variable
from graphfix.operators.written_buffers import KEY, read_buffers, write_buffers
from graphfix.report import IoChange, NodeRef


def buffer_output(editor: Editor, output: Variable, kind: TypeProto, buffer: str) -> None:
    """Declare an output of the main graph as what is to be put into an input.

    What computes it is the caller's business. The metadata of the file says which input it is.

    Args:
        editor: The editor of the pass.
        output: The output.
        kind: The type that it has from now on.
        buffer: The input.
    """
    old, new = redeclare_type(editor.model.graph, output, kind)
    use = f"to be put into {buffer} after each run"
    editor.io_changes.append(IoChange(output.name, old, f"{new}, {use}"))
    known = read_buffers(editor.model.metadata.get(KEY, ""))
    known[output.name] = buffer
    editor.model.metadata[KEY] = write_buffers(known)
    editor.record_number(NodeRef(outputs=(output.name,)), use)
