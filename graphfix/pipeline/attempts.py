"""Runs of the passes, unproved, without those that cannot or had better not run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from graphfix.engines.checking import features_of
from graphfix.errors import PassBug
from graphfix.ir.model import Model
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame, Stage, Suspect, settled
from graphfix.pipeline.faults import Kind, Specimen
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.original import Original
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import Settings, without
from graphfix.pipeline.worse_findings import worsened
from graphfix.report import NodeRef, Outcome, Site, Status


def first_attempt(
    before: Original, model: Model, settings: Settings, hooks: Sequence[Hook]
) -> Attempt:
    """Run the passes, without those that raise, outgrow what they gain or make things worse.

    Args:
        before: The model as it came.
        model: The same, to be edited.
        settings: What was asked for.
        hooks: Notified of stages and passes.

    Raises:
        PassBug: Leaving out the pass that raised it is not possible.
    """
    again = attempts(before, hooks)
    attempt = settled(_tried(before, model, settings, hooks), _raising(before, hooks))
    attempt = settled(attempt, Stage(again, unfinished_rewrites))
    attempt = settled(attempt, Stage(again, outgrown))
    return settled(attempt, Stage(again, worsened(before)))


def attempts(before: Original, hooks: Sequence[Hook]) -> Callable[[Settings], Attempt]:
    """Return what runs passes over the model as it came, and continues without those that raise."""
    raising = _raising(before, hooks)
    return lambda settings: settled(raising.again(settings), raising)


def _raising(before: Original, hooks: Sequence[Hook]) -> Stage:
    return Stage(lambda settings: _tried(before, before.again(), settings, hooks), _raised)


def _tried(before: Original, model: Model, settings: Settings, hooks: Sequence[Hook]) -> Attempt:
    faults = features_of(before.validity.complaints, before.validity.typed)
    run = Run(model, settings, hooks, known_faults=faults)
    try:
        execute(run)
    except PassBug as bug:  # what the pass did to the model cannot be undone
        return Attempt(run, settings, bug)
    return Attempt(run, settings)


def _raised(attempt: Attempt, count: int) -> Blame | None:
    bug, settings = attempt.bug, attempt.settings
    if bug is None:
        return None
    if count == MOST_RUNS - 1 or all(p.id != bug.pass_id for p in settings.knowing):
        raise bug
    return Blame((failed(settings, bug.pass_id, str(bug), broken=True),))


def failed(settings: Settings, pass_id: str, reason: str, *, broken: bool = False) -> Suspect:
    """Return a pass that failed as a whole; `broken` as for `without`."""
    return failed_together(settings, (pass_id,), reason, broken=broken)


def failed_together(
    settings: Settings, pass_ids: Sequence[str], reason: str, *, broken: bool = False
) -> Suspect:
    """Return passes that failed as a whole, of which none alone is to blame."""
    return Suspect(
        without(settings, set(pass_ids), broken=broken),
        tuple(Outcome(name, Status.FAILED, reason, (Site(NodeRef()),)) for name in pass_ids),
        specimens=(Specimen(Kind.RAISES, tuple(pass_ids), NodeRef(), reason, settings),),
    )


def unfinished_rewrites(attempt: Attempt, _: int) -> Blame | None:
    """Blame the rewrites whose results still show what a graph pass was to remove."""
    run = attempt.run
    shown = {finding.feature for finding in run.findings_after if finding.blocks}
    unfinished = [left for left in run.left if left.features & shown]
    if not unfinished:
        return None
    outcomes = tuple(
        Outcome(
            left.pass_id,
            Status.REFUSED,
            f"rolled back: what it needs shows {', '.join(sorted(left.features & shown))}, which no"
            " other pass could remove there",
            (Site(left.node),),
        )
        for left in unfinished
    )
    names = attempt.settings.unfinished | {left.pass_id for left in unfinished}
    return Blame((Suspect(replace(attempt.settings, unfinished=names), outcomes),))


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
