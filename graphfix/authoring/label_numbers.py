"""Giving the number of a label, a column or an entry, where the model gave labels or a list."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import TensorProto, TypeProto, ValueInfoProto

from graphfix.authoring.declared_types import redeclare_type
from graphfix.authoring.editing import Editor
from graphfix.ir.graph import Variable
from graphfix.ir.views import Value
from graphfix.operators.labels import KEY, Label, Labels, read_labels, write_labels
from graphfix.report import IoChange, NodeRef

_SHOWN = 12  # labels that a report names


def label_output(
    editor: Editor, output: Variable, kind: TypeProto, labels: Sequence[Label], *, columns: bool
) -> None:
    """Declare an output of the main graph as a tensor whose numbers or columns stand for labels.

    What computes it is the caller's business. The metadata of the file says what stands for what.

    Args:
        editor: The editor of the pass.
        output: The output.
        kind: The type that it has from now on.
        labels: What each number or column stands for.
        columns: Whether columns stand for labels; numbers otherwise.
    """
    old, new = redeclare_type(editor.model.graph, output, kind)
    meaning = f"{'columns' if columns else 'numbers'} stand for {_shown(labels)}"
    _tell(editor, output, Labels(tuple(labels), columns), (old, new), meaning)


def label_input(editor: Editor, tensor: Variable, labels: Sequence[str]) -> None:
    """Declare an input of texts of the main graph as int64, whose numbers stand for these.

    What reads it is the caller's business. The metadata of the file says what stands for what; a
    text that is not among the labels has a number after theirs.

    Args:
        editor: The editor of the pass.
        tensor: The input.
        labels: What each number stands for.
    """
    old = Value(tensor).type_name
    tensor.elem_type = TensorProto.INT64
    if tensor.info is not None:
        info = ValueInfoProto()
        info.CopyFrom(tensor.info)
        info.type.tensor_type.elem_type = TensorProto.INT64
        tensor.info = info
    new = Value(tensor).type_name
    meaning = f"numbers stand for {_shown(labels)}"
    _tell(editor, tensor, Labels(tuple(labels), False), (old, new), meaning)


def stacked_output(editor: Editor, output: Variable, kind: TypeProto) -> None:
    """Declare an output of the main graph as the tensors of a list, stacked along a new first axis.

    What computes it is the caller's business. The metadata of the file says what it is.

    Args:
        editor: The editor of the pass.
        output: The output, a sequence of tensors.
        kind: The type that it has from now on.
    """
    named = redeclare_type(editor.model.graph, output, kind)
    _tell(editor, output, Labels((), False, True), named, "entries are the tensors of the list")


def _shown(labels: Sequence[Label]) -> str:
    if not labels:
        return "texts as the caller likes"
    return ", ".join(map(str, labels[:_SHOWN])) + (", ..." if len(labels) > _SHOWN else "")


def _tell(
    editor: Editor, tensor: Variable, labels: Labels, kinds: tuple[str, str], meaning: str
) -> None:
    old, new = kinds
    editor.io_changes.append(IoChange(tensor.name, old, f"{new}, whose {meaning}"))
    known = read_labels(editor.model.metadata.get(KEY, ""))
    known[tensor.name] = labels
    editor.model.metadata[KEY] = write_labels(known)
    editor.record_number(NodeRef(outputs=(tensor.name,)), meaning)
