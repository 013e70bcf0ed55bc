"""Explanations as text: for each finding the passes that could remove it, and why which."""

from __future__ import annotations

from collections.abc import Iterable

from graphfix.rendering.grouping import distinct, node_label
from graphfix.rendering.style import Style, capped, count, labelled, printable, wrap
from graphfix.report import Severity
from graphfix.report.explanations import Candidate, Choice, Explanation, NamedPattern

_NODES_SHOWN = 3
_WIDTH = 12


def explanation_lines(explanations: Iterable[Explanation], style: Style) -> list[str]:
    """Return a block for each group of findings about which the same is to be said.

    Notes are left out: nothing is done about them.
    """
    groups: dict[object, list[Explanation]] = {}
    for known in explanations:
        if known.finding.severity is not Severity.NOTE:
            key = (known.finding.feature, known.removed, known.others, known.candidates)
            groups.setdefault(key, []).append(known)
    lines: list[str] = []
    for members in groups.values():
        if lines:
            lines.append("")
        lines += _block(members, style)
    return lines


def named_pattern_texts(named: Iterable[NamedPattern]) -> list[str]:
    """Return what each pass that runs only when it is named would do: a sentence or more each."""
    texts: list[str] = []
    for known in named:
        said: list[str] = []
        if known.sites:
            where = capped([node_label(node) for node in known.sites], _NODES_SHOWN)
            said.append(f"would be applied at {where}: --passes {known.pass_id}")
        for reason in dict.fromkeys(reason for _, reason in known.refused):
            nodes = [node_label(node) for node, refusal in known.refused if refusal == reason]
            said.append(f"refuses {capped(nodes, _NODES_SHOWN)}: {reason}")
        if known.nearest is not None:
            said.append(f"the nearest, {node_label(known.nearest)}, is no match: {known.reason}")
        texts += [printable(f"{known.pass_id} {text}") for text in said]
    return texts


def named_pattern_lines(named: Iterable[NamedPattern]) -> list[str]:
    """Return these sentences as a list."""
    return [line for text in named_pattern_texts(named) for line in wrap(text, "    ", "  - ")]


def _block(members: list[Explanation], style: Style) -> list[str]:
    first = members[0]
    nodes = distinct(node_label(known.finding.node) for known in members)
    end = style.paint("removed", "green") if first.removed else style.paint("left", "red")
    lines = [f"  {printable(first.finding.feature)}: {end}"]
    if nodes:
        lines += labelled("nodes", capped(nodes, _NODES_SHOWN), width=_WIDTH)
    for candidate in first.candidates:
        lines += labelled(str(candidate.choice), printable(_words(candidate)), width=_WIDTH)
    if not first.candidates:
        lines += labelled("candidates", "none: no pass removes this feature", width=_WIDTH)
    if first.others:
        lines += labelled("also", f"{', '.join(first.others)} changed the node", width=_WIDTH)
    elif first.removed and all(c.choice is not Choice.CHOSEN for c in first.candidates):
        lines += labelled("removed", "by what is done about other findings", width=_WIDTH)
    return lines


def _words(candidate: Candidate) -> str:
    facts: list[str] = []
    if candidate.accuracy is not None:
        facts.append(str(candidate.accuracy))
    if candidate.nodes is not None:
        facts.append(count(candidate.nodes, "node"))
    if candidate.helped_by:
        facts.append(f"with {', '.join(candidate.helped_by)}")
    suffix = f" ({', '.join(facts)})" if facts else ""
    return f"{candidate.pass_id}{suffix}" + (f": {candidate.reason}" if candidate.reason else "")
