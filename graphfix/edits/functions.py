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

from graphfix.edits.engine import Edited, edit
from graphfix.edits.names import Prefix, Rename, RenameNode
from graphfix.model import Model

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
