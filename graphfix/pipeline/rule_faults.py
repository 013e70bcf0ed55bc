"""Rules that raised in a run: what reproducers are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphfix.ir.model import Model
from graphfix.pipeline.faults import Kind, Specimen, surroundings
from graphfix.pipeline.settings import Settings
from graphfix.report import Finding


def rule_faults(
    model: Model, findings: Iterable[Finding], settings: Settings
) -> Iterator[Specimen]:
    """Yield the first place of each rule that raised, with what is there now.

    Args:
        model: The model that the rules were asked about.
        findings: What they said of it.
        settings: What the run was asked for.
    """
    first: dict[str, Finding] = {}
    for finding in findings:
        if finding.fault:
            first.setdefault(finding.rule, finding)
    for rule, finding in first.items():
        at = finding.node
        nodes = (
            node
            for node in model.nodes()
            if (node.op, node.name, node.graph.scope) == (at.op, at.name, at.scope)
            and tuple(tensor.name for tensor in node.outputs) == at.outputs
        )
        node = next(nodes, None) if at.op else None
        pieces = () if node is None else surroundings(node)
        reason = f"the rule {rule} failed: {finding.fault}"
        yield Specimen(Kind.RULE, (rule,), at, reason, settings, pieces=pieces)
