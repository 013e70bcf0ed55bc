"""A kind of problem in a line or two: how many nodes, what the engine says, why it is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphfix.rendering.grouping import Group, distinct, group_findings, node_label
from graphfix.rendering.short_lines import one_line, whole_text
from graphfix.rendering.style import capped
from graphfix.rendering.text_findings import legend
from graphfix.report import Finding, Outcome, Report, Severity, Status

_SEVERITY = 10  # columns
_NO_PASS = "no pass removes this"


def problem_line(group: Group) -> str:
    """Return one kind of problem in a line: severity, how many nodes, operator, engine's words."""
    return one_line(_problem(group), f"  {group.severity} ".ljust(_SEVERITY))


def whole_problem(group: Group) -> list[str]:
    """Return the same with nothing cut off of the message, or of the engine's first line."""
    text = _problem(group, lines=1)
    return whole_text(text, f"  {group.severity} ".ljust(_SEVERITY), " " * _SEVERITY)


def _problem(group: Group, *, lines: int | None = None) -> str:
    first = group.findings[0]
    many = f"{len(group.nodes)} x " if group.nodes else ""
    doubt = "" if group.certain else ", possibly"
    words = next((f.engine_text for f in group.findings if f.engine_text), "") or first.message
    if group.nodes:
        words = words.removeprefix(f"{first.node.op}: ")
    return f"{many}{subject(group)}{doubt}: {' '.join(words.splitlines()[:lines])}"


def short_legend(findings: Iterable[Finding]) -> list[str]:
    """Say what the words for severities mean that do not say it themselves."""
    plain = (Severity.REJECT, Severity.NOTE)
    words = [
        line.split(maxsplit=1) for line in legend(f for f in findings if f.severity not in plain)
    ]
    return [f"{' ' * _SEVERITY}({word}: {meaning})" for word, meaning in words]


def subject(group: Group) -> str:
    """Return the operator of a kind of problem, and what of it is meant where that is a part."""
    node = group.findings[0].node
    feature = group.feature.partition(":")[2]
    if not node.op:
        return "the model"
    operator = f"{node.domain}::{node.op}" if node.domain else node.op
    if group.feature.startswith("op:"):
        return feature
    return operator


def problem_lines(group: Group) -> list[str]:
    """Return a kind of problem that is there: one line, or more where it is one of the model.

    Its message alone says what to do then, and may name an option.
    """
    if group.nodes or not group.findings[0].blocks:
        return [problem_line(group)]
    text = f"the model: {group.findings[0].message}"
    return whole_text(text, f"  {group.severity} ".ljust(_SEVERITY), " " * _SEVERITY)


def left_lines(group: Group, report: Report, *, whole: bool = False) -> list[str]:
    """Return a kind of problem that is left, and why nothing removed it."""
    lines, margin = problem_lines(group), " " * _SEVERITY
    why = why_left(group.findings, report.outcomes) if group.nodes else ""
    if why:
        lines += whole_text(why, margin) if whole else [one_line(why, margin)]
    return lines


def why_left(findings: Sequence[Finding], outcomes: Iterable[Outcome]) -> str:
    """Say why a problem is left: no pass removes it, a consent is missing, or a pass refused.

    What the user's own options keep away is said with it.
    """
    withheld = "; ".join(distinct(f.withheld for f in findings))
    tried = _why_tried(findings, outcomes)
    if withheld and tried in ("", _NO_PASS):
        return withheld
    return f"{tried}; {withheld}" if withheld else tried or _idle(findings)


def _idle(findings: Sequence[Finding]) -> str:
    names = distinct(name for g in group_findings(findings) for name in g.removed_by)
    return f"{capped(names, 2)} did not act here (`graphfix check --explain` says why)"


def _why_tried(findings: Sequence[Finding], outcomes: Iterable[Outcome]) -> str:
    """Say what the run itself knows of why a problem is left; empty where it knows nothing."""
    names = distinct(name for f in findings for name in f.removed_by)
    needs = dict(pair for f in findings for pair in f.needs)
    if needs:
        name, options = next(iter(needs.items()))
        return f"{name} needs {options}"
    nodes = {f.node.outputs for f in findings}
    reasons = [
        (o, site)
        for o in outcomes
        if o.status in (Status.REFUSED, Status.FAILED) and (o.pass_id in names or not names)
        for site in o.sites or (None,)
    ]
    for outcome, site in reasons:
        if (site is None and names) or (site is not None and site.node.outputs in nodes):
            at = f" at {node_label(site.node)}" if site is not None and len(findings) > 1 else ""
            return f"{outcome.pass_id} {outcome.status}{at}: {outcome.reason}"
    if not names:
        return _NO_PASS
    unknown = distinct(f.missing for f in findings)
    if unknown:
        return f"not known: {capped(unknown, 3)}"
    return ""
