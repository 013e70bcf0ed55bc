"""Edits of a model by hand: rename, cut, join, ...; each says what it did and proves it.

The public names are loaded when they are first used. They are those of `graphfix/edits/options`,
listed here by `python -m graphfix.edits.listing`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphfix.edits.engine import Done, Edited, edit
    from graphfix.edits.options.cutting import Extract, Split, extract, split
    from graphfix.edits.options.dynamic import Dynamic, dynamic
    from graphfix.edits.options.ends import (
        AddOutput,
        DropInput,
        DropOutput,
        KeepOutputs,
        ReorderInputs,
        ReorderOutputs,
        add_output,
        drop_input,
        drop_output,
        keep_outputs,
        reorder_inputs,
        reorder_outputs,
    )
    from graphfix.edits.options.joining import Join, join
    from graphfix.edits.options.names import Prefix, Rename, RenameNode, prefix, rename, rename_node
    from graphfix.edits.options.nodes import (
        Delete,
        Insert,
        Replace,
        delete,
        insert,
        replace,
        replace_op,
    )
    from graphfix.edits.options.precision import To, to
    from graphfix.edits.options.preprocessing import (
        InputType,
        Layout,
        Normalize,
        OutputType,
        SwapChannels,
        input_type,
        layout,
        normalize,
        output_type,
        swap_channels,
    )
    from graphfix.edits.options.sizes import Dim, Shape, dim, shape
    from graphfix.edits.options.subgraphs import ExtractBody, extract_body
    from graphfix.edits.options.values import SetAttribute, SetWeights, set_attribute, set_weights
    from graphfix.edits.proof import Proof
    from graphfix.edits.step import Edit

_HOMES = {
    "AddOutput": "graphfix.edits.options.ends",
    "Delete": "graphfix.edits.options.nodes",
    "Dim": "graphfix.edits.options.sizes",
    "Done": "graphfix.edits.engine",
    "DropInput": "graphfix.edits.options.ends",
    "DropOutput": "graphfix.edits.options.ends",
    "Dynamic": "graphfix.edits.options.dynamic",
    "Edit": "graphfix.edits.step",
    "Edited": "graphfix.edits.engine",
    "Extract": "graphfix.edits.options.cutting",
    "ExtractBody": "graphfix.edits.options.subgraphs",
    "InputType": "graphfix.edits.options.preprocessing",
    "Insert": "graphfix.edits.options.nodes",
    "Join": "graphfix.edits.options.joining",
    "KeepOutputs": "graphfix.edits.options.ends",
    "Layout": "graphfix.edits.options.preprocessing",
    "Normalize": "graphfix.edits.options.preprocessing",
    "OutputType": "graphfix.edits.options.preprocessing",
    "Prefix": "graphfix.edits.options.names",
    "Proof": "graphfix.edits.proof",
    "Rename": "graphfix.edits.options.names",
    "RenameNode": "graphfix.edits.options.names",
    "ReorderInputs": "graphfix.edits.options.ends",
    "ReorderOutputs": "graphfix.edits.options.ends",
    "Replace": "graphfix.edits.options.nodes",
    "SetAttribute": "graphfix.edits.options.values",
    "SetWeights": "graphfix.edits.options.values",
    "Shape": "graphfix.edits.options.sizes",
    "Split": "graphfix.edits.options.cutting",
    "SwapChannels": "graphfix.edits.options.preprocessing",
    "To": "graphfix.edits.options.precision",
    "add_output": "graphfix.edits.options.ends",
    "delete": "graphfix.edits.options.nodes",
    "dim": "graphfix.edits.options.sizes",
    "drop_input": "graphfix.edits.options.ends",
    "drop_output": "graphfix.edits.options.ends",
    "dynamic": "graphfix.edits.options.dynamic",
    "edit": "graphfix.edits.engine",
    "extract": "graphfix.edits.options.cutting",
    "extract_body": "graphfix.edits.options.subgraphs",
    "input_type": "graphfix.edits.options.preprocessing",
    "insert": "graphfix.edits.options.nodes",
    "join": "graphfix.edits.options.joining",
    "keep_outputs": "graphfix.edits.options.ends",
    "layout": "graphfix.edits.options.preprocessing",
    "normalize": "graphfix.edits.options.preprocessing",
    "output_type": "graphfix.edits.options.preprocessing",
    "prefix": "graphfix.edits.options.names",
    "rename": "graphfix.edits.options.names",
    "rename_node": "graphfix.edits.options.names",
    "reorder_inputs": "graphfix.edits.options.ends",
    "reorder_outputs": "graphfix.edits.options.ends",
    "replace": "graphfix.edits.options.nodes",
    "replace_op": "graphfix.edits.options.nodes",
    "set_attribute": "graphfix.edits.options.values",
    "set_weights": "graphfix.edits.options.values",
    "shape": "graphfix.edits.options.sizes",
    "split": "graphfix.edits.options.cutting",
    "swap_channels": "graphfix.edits.options.preprocessing",
    "to": "graphfix.edits.options.precision",
}

__all__ = [
    "AddOutput",
    "Delete",
    "Dim",
    "Done",
    "DropInput",
    "DropOutput",
    "Dynamic",
    "Edit",
    "Edited",
    "Extract",
    "ExtractBody",
    "InputType",
    "Insert",
    "Join",
    "KeepOutputs",
    "Layout",
    "Normalize",
    "OutputType",
    "Prefix",
    "Proof",
    "Rename",
    "RenameNode",
    "ReorderInputs",
    "ReorderOutputs",
    "Replace",
    "SetAttribute",
    "SetWeights",
    "Shape",
    "Split",
    "SwapChannels",
    "To",
    "add_output",
    "delete",
    "dim",
    "drop_input",
    "drop_output",
    "dynamic",
    "edit",
    "extract",
    "extract_body",
    "input_type",
    "insert",
    "join",
    "keep_outputs",
    "layout",
    "normalize",
    "output_type",
    "prefix",
    "rename",
    "rename_node",
    "reorder_inputs",
    "reorder_outputs",
    "replace",
    "replace_op",
    "set_attribute",
    "set_weights",
    "shape",
    "split",
    "swap_channels",
    "to",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'graphfix.edits' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*globals(), *__all__})
