"""What a shell offers after Tab beyond options: targets, passes, and nodes of the model at hand."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MOST_BYTES = 64 << 20  # of a model that is read for the names of its nodes: a shell waits for it
_MOST = 500


def targets(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer the names of targets; of a list, those that may follow."""
    from graphfix.engines.targets import load_target, target_names

    done, comma, begun = typed.rpartition(",")
    return _items(
        (f"{done}{comma}{name}", load_target(name).title)
        for name in target_names()
        if name.startswith(begun)
    )


def passes(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer the names of passes, with what they do; of a list, those that may follow."""
    from graphfix.authoring.registry import all_passes

    done, comma, begun = typed.rpartition(",")
    return _items(
        (f"{done}{comma}{each.id}", each.summary)
        for each in all_passes(())
        if each.id.startswith(begun)
    )


def nodes(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer the names of the nodes of the model that is on the line."""
    model = _model_of()
    if model is None:
        return []
    return _items((name, op) for name, op in _named(model) if name.startswith(typed))[:_MOST]


def _items(offered: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(value, help=said) for value, said in offered]


def _model_of() -> Path | None:
    """Return the first file on the line, of which click has parsed nothing by now."""
    from click.shell_completion import split_arg_string

    words = split_arg_string(os.environ.get("COMP_WORDS", ""))[2:]
    found = next((path for path in map(Path, words) if path.is_file()), None)
    return found if found is not None and found.stat().st_size <= _MOST_BYTES else None


def _named(path: Path) -> Iterable[tuple[str, str]]:
    from graphfix.errors import GraphfixError
    from graphfix.ir.storage.reading import read_model

    try:
        found = read_model(path).proto.graph.node
    except GraphfixError:
        return []
    return [(node.name, node.op_type) for node in found if node.name]
