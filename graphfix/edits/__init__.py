"""Edits of a model by hand: rename, cut, join, ...; each says what it did and proves it."""

from graphfix.edits.cutting import Extract, Split
from graphfix.edits.ends import (
    AddOutput,
    DropInput,
    DropOutput,
    KeepOutputs,
    ReorderInputs,
    ReorderOutputs,
)
from graphfix.edits.engine import Done, Edited, edit
from graphfix.edits.functions import (
    add_output,
    dim,
    drop_input,
    drop_output,
    extract,
    join,
    keep_outputs,
    prefix,
    rename,
    rename_node,
    reorder_inputs,
    reorder_outputs,
    shape,
    split,
)
from graphfix.edits.joining import Join
from graphfix.edits.names import Prefix, Rename, RenameNode
from graphfix.edits.proving import Proof
from graphfix.edits.sizes import Dim, Shape
from graphfix.edits.step import Edit

__all__ = [
    "AddOutput",
    "Dim",
    "Done",
    "DropInput",
    "DropOutput",
    "Edit",
    "Edited",
    "Extract",
    "Join",
    "KeepOutputs",
    "Prefix",
    "Proof",
    "Rename",
    "RenameNode",
    "ReorderInputs",
    "ReorderOutputs",
    "Shape",
    "Split",
    "add_output",
    "dim",
    "drop_input",
    "drop_output",
    "edit",
    "extract",
    "join",
    "keep_outputs",
    "prefix",
    "rename",
    "rename_node",
    "reorder_inputs",
    "reorder_outputs",
    "shape",
    "split",
]
