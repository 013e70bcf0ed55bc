"""Edits of a model by hand: rename, cut, join, ...; each says what it did and proves it.

The public names are loaded when they are first used. They are those of `graphfix/edits/options`,
listed here by `python -m graphfix.edits.listing`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphfix.edits.engine import Done, Edited, edit
    from graphfix.edits.options.attach_nms import AttachNms, attach_nms
    from graphfix.edits.options.bound import Bound, bound
    from graphfix.edits.options.cutting import Extract, Split, extract, split
    from graphfix.edits.options.detach_nms import DetachNms, detach_nms
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
    from graphfix.edits.options.lora import Lora, lora
    from graphfix.edits.options.merge import Merge, merge
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
    from graphfix.edits.options.split_by import SplitBy, split_by
    from graphfix.edits.options.split_heads import SplitHeads, split_heads
    from graphfix.edits.options.split_off import SplitOff, split_off
    from graphfix.edits.options.static_cache import StaticCache, static_cache
    from graphfix.edits.options.subgraphs import ExtractBody, extract_body
    from graphfix.edits.options.tie import Tie, Untie, tie, untie
    from graphfix.edits.options.values import SetAttribute, SetWeights, set_attribute, set_weights
    from graphfix.edits.options.weights_to import WeightsTo, weights_to
    from graphfix.edits.proof import Proof
    from graphfix.edits.step import Edit

# Module -> the names that it has.
_NAMES = {
    "graphfix.edits.engine": "Done Edited edit",
    "graphfix.edits.options.attach_nms": "AttachNms attach_nms",
    "graphfix.edits.options.bound": "Bound bound",
    "graphfix.edits.options.cutting": "Extract Split extract split",
    "graphfix.edits.options.detach_nms": "DetachNms detach_nms",
    "graphfix.edits.options.dynamic": "Dynamic dynamic",
    "graphfix.edits.options.ends": (
        "AddOutput DropInput DropOutput KeepOutputs ReorderInputs ReorderOutputs add_output "
        "drop_input drop_output keep_outputs reorder_inputs reorder_outputs"
    ),
    "graphfix.edits.options.joining": "Join join",
    "graphfix.edits.options.lora": "Lora lora",
    "graphfix.edits.options.merge": "Merge merge",
    "graphfix.edits.options.names": "Prefix Rename RenameNode prefix rename rename_node",
    "graphfix.edits.options.nodes": "Delete Insert Replace delete insert replace replace_op",
    "graphfix.edits.options.precision": "To to",
    "graphfix.edits.options.preprocessing": (
        "InputType Layout Normalize OutputType SwapChannels input_type layout normalize "
        "output_type swap_channels"
    ),
    "graphfix.edits.options.sizes": "Dim Shape dim shape",
    "graphfix.edits.options.split_by": "SplitBy split_by",
    "graphfix.edits.options.split_heads": "SplitHeads split_heads",
    "graphfix.edits.options.split_off": "SplitOff split_off",
    "graphfix.edits.options.static_cache": "StaticCache static_cache",
    "graphfix.edits.options.subgraphs": "ExtractBody extract_body",
    "graphfix.edits.options.tie": "Tie Untie tie untie",
    "graphfix.edits.options.values": "SetAttribute SetWeights set_attribute set_weights",
    "graphfix.edits.options.weights_to": "WeightsTo weights_to",
    "graphfix.edits.proof": "Proof",
    "graphfix.edits.step": "Edit",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "AddOutput",
    "AttachNms",
    "Bound",
    "Delete",
    "DetachNms",
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
    "Lora",
    "Merge",
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
    "SplitBy",
    "SplitHeads",
    "SplitOff",
    "StaticCache",
    "SwapChannels",
    "Tie",
    "To",
    "Untie",
    "WeightsTo",
    "add_output",
    "attach_nms",
    "bound",
    "delete",
    "detach_nms",
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
    "lora",
    "merge",
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
    "split_by",
    "split_heads",
    "split_off",
    "static_cache",
    "swap_channels",
    "tie",
    "to",
    "untie",
    "weights_to",
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
