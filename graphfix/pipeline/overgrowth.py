"""Decompositions that cannot finish the job: planned, not applied."""

from __future__ import annotations

from graphfix.pipeline.blame import Attempt, Blame, Suspect
from graphfix.pipeline.run import Run
from graphfix.pipeline.settings import without
from graphfix.report import Outcome, Site, Status


def outgrown(attempt: Attempt, _: int) -> Blame | None:
    """Blame the decompositions that a run had better not have made."""
    withheld = {} if attempt.settings.partial else overgrown(attempt.run)
    if not withheld:
        return None
    refused = [
        outcome
        for outcome in attempt.run.journal.outcomes()
        if outcome.pass_id in withheld and outcome.status is Status.REFUSED
    ]
    settings = without(attempt.settings, set(withheld))
    return Blame((Suspect(settings, (*withheld.values(), *refused)),))


def overgrown(run: Run) -> dict[str, Outcome]:
    """Return the decompositions that a run had better not have made, by pass.

    Where findings are left all the same and the graph more than doubled, the passes that added
    most are planned only, until it no longer doubles; ``--partial`` applies them.
    """
    left = [f for f in run.findings_after if f.blocks]
    excess = run.model.node_count() - 2 * max(run.plain_nodes, 1)
    if not left or excess <= 0:
        return {}
    added: dict[str, list[Site]] = {}
    for outcome in run.journal.outcomes():
        if outcome.status is Status.APPLIED:
            grown = [s for s in outcome.sites if len(s.added) > len(s.removed)]
            if grown:
                added[outcome.pass_id] = grown
    growth = {k: sum(len(s.added) - len(s.removed) for s in v) for k, v in added.items()}
    planned: dict[str, Outcome] = {}
    for pass_id in sorted(growth, key=lambda name: (-growth[name], name)):
        if excess <= 0:
            break
        excess -= growth[pass_id]
        reason = (
            f"it would add {growth[pass_id]} nodes, and "
            f"{left[0].rule} would be left all the same (--partial applies it)"
        )
        sites = tuple(Site(s.node, s.accuracy) for s in added[pass_id])
        planned[pass_id] = Outcome(pass_id, Status.REFUSED, reason, sites)
    return planned
