"""Edits of a model by hand: rename, cut, join, ...; each says what it did and proves it."""

from graphfix.edits.engine import Done, Edited, edit
from graphfix.edits.functions import prefix, rename, rename_node
from graphfix.edits.names import Prefix, Rename, RenameNode
from graphfix.edits.proving import Proof
from graphfix.edits.step import Edit

__all__ = [
    "Done",
    "Edit",
    "Edited",
    "Prefix",
    "Proof",
    "Rename",
    "RenameNode",
    "edit",
    "prefix",
    "rename",
    "rename_node",
]
