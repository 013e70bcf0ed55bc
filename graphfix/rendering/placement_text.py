"""What is said of where nodes run, on a provider or on the CPU, and in how many parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphfix.rendering.grouping import node_label
from graphfix.rendering.style import capped, count
from graphfix.report import NodeRef, Placement, Report, Status

_SHOWN = 3  # cuts of a line


def joined(report: Report) -> dict[str, list[NodeRef]]:
    """Return the passes that acted where a part ended, with these nodes; none without a gain."""
    before, after = report.placed_before, report.placed_after
    if before is None or after is None or after.parts >= before.parts:
        return {}
    cuts = {replace(cut, index=-1): cut for cut in before.cuts}
    found: dict[str, dict[NodeRef, None]] = {}
    for outcome in report.outcomes:
        for site in outcome.sites if outcome.status is Status.APPLIED else ():
            for node in (site.node, *site.removed):
                cut = cuts.get(replace(node, index=-1))
                if cut is not None:
                    found.setdefault(outcome.pass_id, {})[cut] = None
    return {pass_id: list(nodes) for pass_id, nodes in found.items()}


def placed_sentence(placed: Placement | None, *, whole: bool = False) -> str:
    """Say how many nodes run where, in how many parts, and at which nodes these end.

    Args:
        placed: Where they run; None for nothing to say.
        whole: Whether every cut is named.
    """
    if placed is None:
        return ""
    said = _shares(placed)
    return f"{said}; cut at {_names(placed.cuts, whole=whole)}" if placed.cuts else said


def placed_run(report: Report, *, whole: bool = False) -> list[tuple[str, str]]:
    """Say it of the result of a run, how it was before, and which repairs joined parts."""
    before, after = report.placed_before, report.placed_after
    said = [("placed", placed_sentence(after, whole=whole))]
    if before is not None and before != after:
        said.append(("before", placed_sentence(before, whole=whole)))
    made = (f"{name} at {_names(cuts, whole=whole)}" for name, cuts in joined(report).items())
    together = ", ".join(made)
    return [*said, ("joined", f"by {together}")] if together else said


def _shares(placed: Placement) -> str:
    parts = f" in {count(placed.parts, 'part')}" if placed.parts else ""
    doubt = f", {placed.possible} of them possibly not" if placed.possible else ""
    said = f"{count(placed.provider, 'node')} on the provider{parts}{doubt}"
    return f"{said}, {placed.cpu} on the CPU"


def _names(nodes: Sequence[NodeRef], *, whole: bool) -> str:
    named = [f"{n.op} {node_label(n)}" if n.name else node_label(n) for n in nodes]
    return capped(named, len(named) if whole else _SHOWN)
