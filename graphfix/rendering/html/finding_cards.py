"""Findings as cards: one for each problem, with the engine's words and every node."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graphfix.rendering.grouping import SEVERITY_MEANS, Group, distinct, group_findings, node_label
from graphfix.rendering.html.page import Card, Link
from graphfix.rendering.html.places import Places
from graphfix.rendering.style import count, printable
from graphfix.rendering.wording import Tone
from graphfix.report import Finding, NodeRef, Severity

_TONES = {
    Severity.REJECT: Tone.BAD,
    Severity.WRONG: Tone.BAD,
    Severity.BUILDER: Tone.CAREFUL,
    Severity.FALLBACK: Tone.CAREFUL,
    Severity.NOTE: Tone.GOOD,
}


def finding_cards(
    findings: Iterable[Finding],
    places: Places,
    prefix: str,
    left: Callable[[Group], int | None] = lambda group: None,
) -> tuple[Card, ...]:
    """Return a card for each group of findings, worst first.

    Args:
        findings: What was found.
        places: Where nodes are on the map.
        prefix: What the ids of the cards begin with.
        left: How many of a group are left after a run; None where there was none.
    """
    groups = group_findings(findings)
    return tuple(
        _card(group, places, f"{prefix}{at}", left(group)) for at, group in enumerate(groups, 1)
    )


def node_links(nodes: Iterable[NodeRef], places: Places) -> tuple[Link, ...]:
    """Return what leads to each node on the map."""
    return tuple(
        Link(label, next((f"{places.prefix}{at}" for at in places.of(node)), ""))
        for node in nodes
        if (label := node_label(node))
    )


def _card(group: Group, places: Places, place: str, left: int | None) -> Card:
    many = count(len(group.nodes), "node") if group.nodes else "the model"
    tags = [str(group.severity), *([] if group.certain else ["possibly"])]
    tone = _TONES[group.severity]
    blocks = group.findings[0].blocks
    if left is not None and blocks:
        tags.append("left" if left else "repaired")
        tone = tone if left else Tone.GOOD
    facts = (
        ("means", SEVERITY_MEANS[group.severity]),
        ("unknown", printable(", ".join(distinct(f.missing for f in group.findings)))),
        ("removed by", group.removers or "no pass"),
        ("rule", group.rule),
        ("source", printable("; ".join(distinct(f.source for f in group.findings)[:3]))),
    )
    return Card(
        place,
        f"{printable(group.feature)}: {many}" + (f", {left} left" if left and blocks else ""),
        tuple(tags),
        tone,
        tuple(printable(text) for text in distinct(f.message for f in group.findings)[:6]),
        "\n".join(
            printable(line)
            for text in distinct(f.engine_text for f in group.findings)[:4]
            for line in text.splitlines()
        ),
        tuple((label, text) for label, text in facts if text),
        node_links((f.node for f in group.findings), places),
    )
