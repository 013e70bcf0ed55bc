"""Runs of the passes, unproved, without those that cannot or had better not run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphfix.errors import PassBug
from graphfix.ir.model import Model
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame, Stage, Suspect, settled
from graphfix.pipeline.faults import Kind, Specimen
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.original import Original
from graphfix.pipeline.overgrowth import outgrown
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import Settings, without
from graphfix.pipeline.unfinished_rewrites import unfinished_rewrites
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
    attempt = settled(_tried(model, settings, hooks), _raising(before, hooks))
    attempt = settled(attempt, Stage(again, unfinished_rewrites))
    attempt = settled(attempt, Stage(again, outgrown))
    return settled(attempt, Stage(again, worsened(before)))


def attempts(before: Original, hooks: Sequence[Hook]) -> Callable[[Settings], Attempt]:
    """Return what runs passes over the model as it came, and continues without those that raise."""
    raising = _raising(before, hooks)
    return lambda settings: settled(raising.again(settings), raising)


def _raising(before: Original, hooks: Sequence[Hook]) -> Stage:
    return Stage(lambda settings: _tried(before.again(), settings, hooks), _raised)


def _tried(model: Model, settings: Settings, hooks: Sequence[Hook]) -> Attempt:
    run = Run(model, settings, hooks)
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
