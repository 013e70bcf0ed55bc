"""Giving outputs a fixed number of rows, and the model an output that counts those that count."""

from __future__ import annotations

from collections.abc import Mapping

from graphfix.authoring.declared_types import redeclare
from graphfix.authoring.editing import Editor
from graphfix.ir.exporting import make_info
from graphfix.ir.graph import Variable
from graphfix.ir.views import Value
from graphfix.operators.padding import KEY, Padding, read_padding, write_padding
from graphfix.report import IoChange, NodeRef


def fill_outputs(
    editor: Editor, outputs: Mapping[Variable, int], size: int, count: Value, name: str
) -> None:
    """Declare that outputs of the main graph have `size` rows of which `count` count.

    What computes them is the caller's business. The count becomes a further output, and the
    metadata of the file says which output it is for.

    Args:
        editor: The editor of the pass.
        outputs: The outputs, each with the axis of its rows.
        size: How many rows there are from now on.
        count: How many of them count: one integer that a node of the main graph computes.
        name: What to call the output that holds it.
    """
    graph, model = editor.model.graph, editor.model
    tensor = count.tensor
    assert isinstance(tensor, Variable), "a count is computed"
    tensor.name = editor.workspace.tensor_name(name)
    tensor.info = make_info(tensor)
    graph.set_outputs([*graph.outputs, tensor])
    editor.io_changes.append(IoChange(tensor.name, "nothing", f"{count.type_name}[1]"))
    known = read_padding(model.metadata.get(KEY, ""))
    for output, axis in outputs.items():
        shape = [*(output.shape or ())]
        shape[axis] = size
        old, new = redeclare(output, tuple(shape))
        change = IoChange(output.name, old, f"{new}, of which {tensor.name} count")
        editor.io_changes.append(change)
        known[output.name] = Padding(tensor.name, axis)
    model.metadata[KEY] = write_padding(known)
    ref = NodeRef(outputs=(tensor.name,))
    editor.record_number(ref, f"counts the rows of {', '.join(o.name for o in outputs)}")
