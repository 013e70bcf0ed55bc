"""Every edit as a function: a model goes in, what became of it comes out.

Each takes a loaded model, a path or a ModelProto, which is not changed, and by keyword what
`graphfix.edits.edit` takes: ``verify``, ``inputs``, ``seed``, ``shapes``. Each raises `UsageError`
for a name that is not known or an edit that cannot be done, and `InvalidModel` for what is no
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from onnx import ModelProto

from graphfix.edits.arrays import Array
from graphfix.edits.cutting import Extract, Split
from graphfix.edits.dynamic import Dynamic
from graphfix.edits.ends import (
    AddOutput,
    DropInput,
    DropOutput,
    KeepOutputs,
    ReorderInputs,
    ReorderOutputs,
)
from graphfix.edits.engine import Edited, edit
from graphfix.edits.joining import Join
from graphfix.edits.names import Prefix, Rename, RenameNode
from graphfix.edits.nodes import Delete, Insert, Replace
from graphfix.edits.precision import To
from graphfix.edits.preprocessing import InputType, Layout, Normalize, OutputType, SwapChannels
from graphfix.edits.sizes import Dim, Shape
from graphfix.edits.subgraphs import ExtractBody
from graphfix.edits.values import SetAttribute, SetWeights
from graphfix.ir.model import Model

ModelLike = Model | str | Path | ModelProto


class How(TypedDict, total=False):
    """How an edit is proved; see `graphfix.edits.edit`."""

    verify: str
    inputs: str | Path | Mapping[str, Any] | None
    seed: int
    shapes: Mapping[str, Sequence[int]] | None


def rename(model: ModelLike, old: str, new: str, **how: Unpack[How]) -> Edited:
    """Rename a tensor, or those that a pattern with one ``*`` matches."""
    return edit(model, [Rename(old, new)], **how)


def rename_node(model: ModelLike, old: str, new: str, **how: Unpack[How]) -> Edited:
    """Rename a node."""
    return edit(model, [RenameNode(old, new)], **how)


def prefix(model: ModelLike, text: str, **how: Unpack[How]) -> Edited:
    """Put a prefix before the names of all nodes and inner tensors."""
    return edit(model, [Prefix(text)], **how)


def dim(model: ModelLike, symbol: str, size: int, **how: Unpack[How]) -> Edited:
    """Give a symbolic size a value, wherever it is declared."""
    return edit(model, [Dim(symbol, size)], **how)


def shape(
    model: ModelLike, name: str, sizes: Sequence[int | str | None], **how: Unpack[How]
) -> Edited:
    """Declare the shape of an input: numbers, symbols, None for what stays as it is."""
    return edit(model, [Shape(name, tuple(sizes))], **how)


def extract(
    model: ModelLike, begin: Sequence[str], end: Sequence[str], **how: Unpack[How]
) -> Edited:
    """Take out what computes the tensors of `end` from those of `begin`."""
    return edit(model, [Extract(tuple(begin), tuple(end))], **how)


def extract_body(model: ModelLike, node: str, attribute: str, **how: Unpack[How]) -> Edited:
    """Take the graph in an attribute of a node out as a model of its own."""
    return edit(model, [ExtractBody(node, attribute)], **how)


def split(
    model: ModelLike,
    tensors: Sequence[str],
    front: str | Path,
    back: str | Path,
    **how: Unpack[How],
) -> Edited:
    """Cut a model in two at some tensors; ``parts`` of the result has both, nothing is written."""
    return edit(model, [Split(tuple(tensors), Path(front), Path(back))], **how)


def keep_outputs(model: ModelLike, names: Sequence[str], **how: Unpack[How]) -> Edited:
    """Drop all other outputs, and what only they need."""
    return edit(model, [KeepOutputs(tuple(names))], **how)


def drop_output(model: ModelLike, name: str, **how: Unpack[How]) -> Edited:
    """Drop an output, and what only it needs."""
    return edit(model, [DropOutput(name)], **how)


def add_output(model: ModelLike, tensor: str, **how: Unpack[How]) -> Edited:
    """Give an inner tensor out as well."""
    return edit(model, [AddOutput(tensor)], **how)


def drop_input(
    model: ModelLike, name: str, value: str | Array | None = None, **how: Unpack[How]
) -> Edited:
    """Store a value in the place of an input; no value where nothing reads it."""
    return edit(model, [DropInput(name, value)], **how)


def reorder_inputs(model: ModelLike, names: Sequence[str], **how: Unpack[How]) -> Edited:
    """Put inputs first, in this order."""
    return edit(model, [ReorderInputs(tuple(names))], **how)


def reorder_outputs(model: ModelLike, names: Sequence[str], **how: Unpack[How]) -> Edited:
    """Put outputs first, in this order."""
    return edit(model, [ReorderOutputs(tuple(names))], **how)


def join(
    model: ModelLike, other: str | Path, links: Sequence[tuple[str, str]], **how: Unpack[How]
) -> Edited:
    """Join the model of a file after this one, or in front: pairs of an output and an input."""
    return edit(model, [Join(Path(other), tuple(links))], **how)


def input_type(model: ModelLike, name: str, type: str, **how: Unpack[How]) -> Edited:
    """Let an input have another element type, such as ``uint8``."""
    return edit(model, [InputType(name, type)], **how)


def output_type(model: ModelLike, name: str, type: str, **how: Unpack[How]) -> Edited:
    """Give an output out with another element type."""
    return edit(model, [OutputType(name, type)], **how)


def layout(model: ModelLike, name: str, order: str, **how: Unpack[How]) -> Edited:
    """Take an input, or give an output, as ``NHWC`` or ``NCHW``."""
    return edit(model, [Layout(name, order)], **how)


def normalize(
    model: ModelLike, name: str, mean: Sequence[float], std: Sequence[float], **how: Unpack[How]
) -> Edited:
    """Compute ``(x - mean) / std`` of an input in the file."""
    return edit(model, [Normalize(name, tuple(mean), tuple(std))], **how)


def swap_channels(model: ModelLike, name: str, **how: Unpack[How]) -> Edited:
    """Take an image with its three channels in the other order."""
    return edit(model, [SwapChannels(name)], **how)


def delete(model: ModelLike, node: str, **how: Unpack[How]) -> Edited:
    """Take nodes out: what read their output reads their input."""
    return edit(model, [Delete(node)], **how)


def insert(model: ModelLike, tensor: str, path: str | Path, **how: Unpack[How]) -> Edited:
    """Put the model of a file between a tensor and what reads it."""
    return edit(model, [Insert(tensor, Path(path))], **how)


def replace(model: ModelLike, node: str, path: str | Path, **how: Unpack[How]) -> Edited:
    """Put the model of a file in the place of nodes."""
    return edit(model, [Replace(node, Path(path))], **how)


def replace_op(model: ModelLike, operator: str, path: str | Path, **how: Unpack[How]) -> Edited:
    """Put the model of a file in the place of every node of an operator, ``[DOMAIN::]OP``."""
    return edit(model, [Replace(f"op:{operator}", Path(path), "--replace-op")], **how)


def set_attribute(
    model: ModelLike, node: str, attribute: str, value: str, **how: Unpack[How]
) -> Edited:
    """Give an attribute of nodes another value, as text."""
    return edit(model, [SetAttribute(node, attribute, value)], **how)


def set_weights(model: ModelLike, name: str, value: str | Array, **how: Unpack[How]) -> Edited:
    """Give a stored tensor other values."""
    return edit(model, [SetWeights(name, value)], **how)


def to(model: ModelLike, type: str, keep: Sequence[str] = (), **how: Unpack[How]) -> Edited:
    """Compute in ``float16``, ``bfloat16`` or ``float32`` where nodes are it."""
    return edit(model, [To(type, tuple(keep))], **how)


def dynamic(
    model: ModelLike, sizes: Mapping[str, Sequence[int | str | None]], **how: Unpack[How]
) -> Edited:
    """Free a fixed size of inputs: a symbol stands for it, the other sizes are as they are."""
    return edit(model, [Dynamic(tuple((n, tuple(s)) for n, s in sizes.items()))], **how)
