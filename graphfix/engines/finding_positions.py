"""Findings as a user reads them: each unknown once, and nodes by their position in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphfix.engines.untyped_operators import counted_behind
from graphfix.ir.graph import Node
from graphfix.ir.model import Model
from graphfix.report import Finding

Places = dict[tuple[str, int], Node]


def as_reported(model: Model, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return what the rules say of a model in the form that reports have.

    Inside of a run nodes are known by where they are now. A report names them by where they was
    in the file, -1 for what is new; an order that was mended, and what was put in before them,
    does not shift them.

    Args:
        model: The model as it is now.
        findings: What the rules say of it.
    """
    if not findings:
        return ()
    places = {(g.scope, i): n for g in model.graphs() for i, n in enumerate(g.nodes)}
    return tuple(_placed(finding, places) for finding in counted_behind(model, findings))


def _placed(finding: Finding, places: Places) -> Finding:
    node = places.get((finding.node.scope, finding.node.index))
    follow_ups = tuple(_placed(each, places) for each in finding.follow_ups)
    if node is None or (node.index == finding.node.index and not follow_ups):
        return finding
    return replace(finding, node=replace(finding.node, index=node.index), follow_ups=follow_ups)
