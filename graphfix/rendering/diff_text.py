"""The text view of a difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os.path import basename

from graphfix.difference.difference import (
    Difference,
    FieldChange,
    NodeChange,
    Presence,
    Statistics,
    WeightChange,
)
from graphfix.rendering.style import PLAIN, Style, capped, count, join, printable, wrap
from graphfix.rendering.wording import Word
from graphfix.report import NodeRef

_SHOWN = 50
_READERS_SHOWN = 3


def diff_text(before: str, after: str, found: Difference, *, style: Style = PLAIN) -> str:
    """Return what differs from one model to the other, for people."""
    names = f"{printable(basename(before))} -> {printable(basename(after))}"
    renamed = _renamed(found)
    if found.same:
        text = f"{Word.OK}: {names}: the same{', up to names' if renamed else ''}"
        return join([style.paint(text, "bold", "green"), *renamed])
    lines = [style.paint(f"{Word.DIFFERENT}: {names}", "bold"), *_summary(found), *renamed]
    for heading, body in (
        ("Metadata", field_lines(found.metadata)),
        ("Inputs and outputs", field_lines(found.interface)),
        ("Removed nodes", [wrap(node_text(node), "    ", "  - ") for node in found.removed]),
        ("Added nodes", [wrap(node_text(node), "    ", "  + ") for node in found.added]),
        ("Changed nodes", [node_lines(change) for change in found.nodes]),
        ("Weights", [weight_lines(change) for change in found.weights]),
        ("Recorded types", field_lines(found.types)),
    ):
        if body:
            lines += ["", style.paint(heading, "bold"), *_limited(body)]
    return join(lines)


def node_text(node: NodeRef) -> str:
    """Return ``Conv 'conv_1' (main, #3)``; an unnamed node is known by its first output."""
    op = f"{node.domain}::{node.op}" if node.domain else node.op
    known = node.name or next((name for name in node.outputs if name), "")
    label = f" {printable(known)!r}" if known else ""
    return f"{printable(op)}{label} ({printable(node.scope)}, #{node.index})"


def _summary(found: Difference) -> list[str]:
    facts = [f"{count(found.matched, 'node')} in both"]
    facts += [f"{len(found.removed)} removed"] if found.removed else []
    facts += [f"{len(found.added)} added"] if found.added else []
    facts += [f"{len(found.nodes)} changed"] if found.nodes else []
    facts += [f"weights that differ: {len(found.weights)}"] if found.weights else []
    return wrap(", ".join(facts), "  ")


def _renamed(found: Difference) -> list[str]:
    facts: list[str] = []
    if found.renamed_nodes:
        facts.append(count(found.renamed_nodes, "node"))
    if found.renamed_tensors:
        facts.append(count(found.renamed_tensors, "tensor"))
    lines = wrap(f"renamed: {', '.join(facts)}", "  ") if facts else []
    for change in found.renamed_interface:
        lines += wrap(f"{change.field} {_quoted(change.old)} -> {_quoted(change.new)}", "  ")
    return lines


def _quoted(text: str | None) -> str:
    return "none" if text is None else printable(text) or "empty"


def field_lines(changes: Iterable[FieldChange]) -> list[list[str]]:
    """Return one entry for each fact, old -> new."""
    return [wrap(f"{printable(c.where)}: {_field(c)}", "    ", "  ") for c in changes]


def _field(change: FieldChange) -> str:
    return f"{printable(change.field)}: {_quoted(change.old)} -> {_quoted(change.new)}"


def node_lines(change: NodeChange) -> list[str]:
    """Return a node that both models have, with what differs."""
    lines = wrap(node_text(change.before), "    ", "  ")
    for field in change.fields:
        lines += wrap(_field(field), "        ", "    ")
    return lines


def weight_lines(change: WeightChange) -> list[str]:
    """Return a stored tensor that differs, with how far and who reads it."""
    sign = {Presence.CHANGED: "~", Presence.ADDED: "+", Presence.REMOVED: "-"}[change.presence]
    name, *said = weight_sentences(change)
    lines = wrap(name, "      ", f"  {sign} ")
    return lines + [line for sentence in said for line in wrap(sentence, "      ")]


def weight_sentences(change: WeightChange) -> list[str]:
    """Return the name and type of a stored tensor that differs, how far, and who reads it."""
    name = printable(change.name)
    if change.presence is Presence.CHANGED and change.new_name != change.name:
        name = f"{name} -> {printable(change.new_name)}"
    kind = change.old or change.new
    if change.old and change.new and change.old != change.new:
        kind = f"{change.old} -> {change.new}"
    sentences = [f"{name}  {kind}"]
    if change.statistics is not None:
        sentences.append(_statistics(change.statistics))
    if change.used_by:
        readers = [node_text(node) for node in change.used_by]
        sentences.append(f"read by {capped(readers, _READERS_SHOWN)}")
    return sentences


def _statistics(found: Statistics) -> str:
    if not found.differing:
        return "all values are equal; signs of zeros or payloads of NaN differ"
    text = f"{found.differing} of {count(found.elements, 'element')} differ"
    if found.max_abs is not None:
        text += f", by up to {found.max_abs:.3g}"
    if found.max_rel is not None:
        text += f" ({found.max_rel:.2%} of the largest)"
    if found.nonfinite:
        text += f", {found.nonfinite} in NaN or infinity"
    return f"{text}; first at {list(found.first)}" if found.first else text


def _limited(entries: Sequence[list[str]]) -> list[str]:
    lines = [line for entry in entries[:_SHOWN] for line in entry]
    if len(entries) > _SHOWN:
        lines.append(f"  and {len(entries) - _SHOWN} more (--json lists all)")
    return lines
