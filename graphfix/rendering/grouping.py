"""Findings and sites by the dozen: what belongs together is reported once, as one block of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable

from msgspec import Struct

from graphfix.rendering.style import Style, capped, count, labelled, printable, wrap
from graphfix.report import Finding, NodeRef, Outcome, Severity, Status

_REASONS_SHOWN = 6
_OPSET = "opset"  # the pass that moves a model to another opset
_ORDER = [Severity.REJECT, Severity.WRONG, Severity.BUILDER, Severity.FALLBACK, Severity.NOTE]

SEVERITY_MEANS = {
    Severity.REJECT: "the engine refuses the model",
    Severity.WRONG: "the engine accepts it and computes something else",
    Severity.BUILDER: "refused later, when the engine is built",
    Severity.FALLBACK: "runs on the fallback provider (slower)",
    Severity.NOTE: "information; does not block",
}


class Group(Struct, frozen=True):
    """Findings that differ only in their node (and in what they say of it)."""

    rule: str
    feature: str
    severity: Severity
    certain: bool
    findings: tuple[Finding, ...]

    @property
    def key(self) -> tuple[str, str, Severity]:
        """What the same problem has in common before and after."""
        return (self.rule, self.feature, self.severity)

    @property
    def removed_by(self) -> tuple[str, ...]:
        """The passes that remove it, best first, each once.

        Conversion to another opset is one of them where nothing else is: most forms of an operator
        are in every opset.
        """
        names = distinct(name for f in self.findings for name in f.removed_by)
        sure = tuple(name for name in names if name != _OPSET or not self._of_a_form)
        return sure or names

    @property
    def _of_a_form(self) -> bool:
        return self.feature.startswith("form:")

    @property
    def removers(self) -> str:
        """The same in words, each with the options that it needs first."""
        needs = dict(pair for f in self.findings for pair in f.needs)
        if self.removed_by == (_OPSET,) and self._of_a_form:
            return f"{_OPSET}, if another opset has no such form"
        return ", ".join(
            f"{name} (needs {needs[name]})" if name in needs else name for name in self.removed_by
        )

    @property
    def nodes(self) -> tuple[str, ...]:
        """How the nodes are called; empty for findings about the model."""
        return tuple(label for f in self.findings if (label := node_label(f.node)))


def group_findings(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Return groups, worst severity first, then by number of nodes."""
    found: dict[tuple[str, str, Severity, bool], list[Finding]] = {}
    for f in findings:
        found.setdefault((f.rule, f.feature, f.severity, f.certain), []).append(f)
    groups = [Group(*key, tuple(members)) for key, members in found.items()]
    return tuple(
        sorted(groups, key=lambda g: (_ORDER.index(g.severity), not g.certain, -len(g.findings)))
    )


def node_label(node: NodeRef) -> str:
    """Return what a person finds a node by: its name, else operator and position, else output."""
    if not node.op:
        return ""
    if node.name:
        label = node.name
    elif node.index >= 0:
        label = f"{node.op} #{node.index}"
    else:
        label = f"{node.op} -> {node.outputs[0]}" if node.outputs else node.op
    return printable(label if node.scope == "main" else f"{label} (in {node.scope})")


def few_reasons(outcomes: Iterable[Outcome]) -> tuple[list[Outcome], list[str]]:
    """Leave out what a pass could not do for more reasons than a person reads.

    Reasons that name a tensor each may be thousands; JSON has them all.

    Returns:
        The outcomes to show, and a sentence for each pass of which some are not.
    """
    shown: list[Outcome] = []
    counts: Counter[tuple[str, Status]] = Counter()
    for outcome in outcomes:
        counts[outcome.pass_id, outcome.status] += 1
        said = outcome.status not in (Status.REFUSED, Status.FAILED)
        if said or counts[outcome.pass_id, outcome.status] <= _REASONS_SHOWN:
            shown.append(outcome)
    return shown, [
        f"{name}: {status} for {count(times - _REASONS_SHOWN, 'more reason')} (--json has them)"
        for (name, status), times in counts.items()
        if status in (Status.REFUSED, Status.FAILED) and times > _REASONS_SHOWN
    ]


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that are not empty, each once, in their order."""
    return tuple(dict.fromkeys(text for text in texts if text))


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
