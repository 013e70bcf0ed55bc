"""Findings as text: one block per problem, however many nodes have it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from graphfix.rendering.grouping import SEVERITY_MEANS, Group, distinct, group_findings
from graphfix.rendering.style import Style, capped, count, labelled, printable, wrap
from graphfix.report import Finding, Severity

_COLOURS = {
    Severity.REJECT: "red",
    Severity.WRONG: "red",
    Severity.BUILDER: "yellow",
    Severity.FALLBACK: "cyan",
    Severity.NOTE: "cyan",
}
_NODES_SHOWN = 3
_MESSAGES_SHOWN = 2


def finding_blocks(
    findings: Iterable[Finding],
    style: Style,
    remark: Callable[[Group], str] | None = None,
    *,
    every_node: bool = False,
    reported: Container[tuple[str, str, Severity]] = (),
) -> list[str]:
    """Return the lines of all groups, worst first, an empty line between them.

    Args:
        findings: What to show.
        style: Colours or none.
        remark: What to say after the number of nodes, ``all fixed`` for one.
        every_node: List all nodes and the source of each fact, not only the first few.
        reported: Keys of groups that have been shown in full before.
    """
    lines: list[str] = []
    for group in group_findings(findings):
        if lines:
            lines.append("")
        lines += _block(
            group,
            style,
            remark(group) if remark else "",
            every_node=every_node,
            brief=group.key in reported,
        )
    return lines


def legend(findings: Iterable[Finding]) -> list[str]:
    """Return one line for each severity that occurs, saying what it means."""
    seen = {f.severity for f in findings}
    return [f"  {f'{s} ':<8}{meaning}" for s, meaning in SEVERITY_MEANS.items() if s in seen]


def _block(group: Group, style: Style, remark: str, *, every_node: bool, brief: bool) -> list[str]:
    """Return the lines of one group."""
    nodes = group.nodes
    many = count(len(nodes), "node") if nodes else "the model"
    doubt = "" if group.certain else "possibly, "
    head = f"{printable(group.feature)}  ({doubt}{many}{', ' + remark if remark else ''})"
    severity = style.paint(f"{group.severity} ".ljust(8), _COLOURS[group.severity], "bold")
    messages = distinct(f.message for f in group.findings)
    lines = [f"  {severity}{head}"]
    shown = () if brief else messages if every_node else messages[:_MESSAGES_SHOWN]
    for message in shown:
        lines += wrap(printable(message), "    ")
    if not brief and len(messages) > _MESSAGES_SHOWN and not every_node:
        lines += wrap(f"(and {len(messages) - _MESSAGES_SHOWN} more messages of this kind)", "    ")
    if nodes:
        lines += labelled("nodes", capped(nodes, len(nodes) if every_node else _NODES_SHOWN))
    if not brief:
        lines += _engine_lines(distinct(f.engine_text for f in group.findings))
    lines += labelled("unknown", printable(capped(distinct(f.missing for f in group.findings), 3)))
    if group.severity is not Severity.NOTE:
        lines += labelled("removed", f"by {group.removers or 'no pass'}")
    lines += labelled("rule", group.rule)
    if every_node:
        lines += labelled("source", capped(distinct(f.source for f in group.findings), 3))
    return lines


def _engine_lines(texts: tuple[str, ...]) -> list[str]:
    """Return the engine's own words, line by line as it prints them, for a web search."""
    lines: list[str] = []
    for text in texts[:_MESSAGES_SHOWN]:
        for line in text.splitlines():
            lines += labelled("" if lines else "engine", printable(line))
    if len(texts) > _MESSAGES_SHOWN:
        lines += labelled("", f"(and {len(texts) - _MESSAGES_SHOWN} more texts of this kind)")
    return lines
