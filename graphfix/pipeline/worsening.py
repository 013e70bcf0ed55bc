"""Never leaving more findings of a severity than the model had: what would is taken back.

What is counted against is the model with its local functions inlined, because a function that is
called three times holds its findings once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from graphfix.authoring.declaring import PREPARE
from graphfix.checking import check_model
from graphfix.hooks import Hook
from graphfix.model import Model
from graphfix.opset.stepping import OPSET
from graphfix.pipeline.running import FUNCTION, Run
from graphfix.pipeline.settings import Settings, without
from graphfix.report import (
    Finding,
    NodeRef,
    Outcome,
    Severity,
    Site,
    Status,
    blocking_by_severity,
)

Counts = Counter[Severity]
MAX_TRIED = 6  # passes that are left out one at a time, before all of them are together


def grown(before: Counts, after: Counts) -> list[str]:
    """Say of which severities there are more findings than before."""
    return [
        f"{before[severity]} findings of severity {severity} would become {number}"
        for severity, number in sorted(after.items())
        if number > before[severity]
    ]


def unharmed(
    run: Run,
    settings: Settings,
    again: Callable[[Settings], Run],
    fresh: Callable[[], Model],
) -> tuple[Run, Settings, dict[str, Outcome]]:
    """Return a run that leaves no more findings of any severity than the model had.

    Passes are left out one at a time, the opset first and then the latest; where no single one
    is to blame, all of them together.

    Args:
        run: The run.
        settings: What it was made with.
        again: Runs from the model as it came.
        fresh: Gives the model as it came, to be edited.

    Returns:
        The run, its settings, and what was left out, by pass.
    """
    if settings.target is None or settings.named is not None or settings.opset is not None:
        return run, settings, {}
    before = blocking_by_severity(run.findings_before)
    after = blocking_by_severity(run.findings_after)
    if not grown(before, after):
        return run, settings, {}
    if run.original.functions:
        before = blocking_by_severity(_inlined_findings(fresh(), settings, run.hooks))
    harm = grown(before, after)
    if not harm:
        return run, settings, {}
    applied = _blamed(run)
    tries = [*({name} for name in applied[:MAX_TRIED]), set(applied)] if applied else []
    for left_out in tries:
        narrowed = without(settings, left_out)
        found = again(narrowed)
        if not grown(before, blocking_by_severity(found.findings_after)):
            return found, narrowed, _outcomes(run, left_out, harm)
    return run, settings, {}


def _inlined_findings(
    model: Model, settings: Settings, hooks: Sequence[Hook]
) -> tuple[Finding, ...]:
    inliners = tuple(
        p for p in settings.available if p.kind == "graph" and p.removes_feature(FUNCTION)
    )
    assert settings.target is not None
    run = Run(model, replace(settings, target=None, named=inliners, verify="off"), hooks)
    run.execute()
    return check_model(run.model, settings.target, settings.assumed)


def _blamed(run: Run) -> list[str]:
    """Return the passes that may have added findings, the likeliest first."""
    kept = {p.id for p in run.settings.available if p.stage == PREPARE}
    kept |= {p.id for p in run.settings.available if p.removes_feature(FUNCTION)}
    applied = [name for name in reversed(run.journal.applied_passes()) if name not in kept]
    return sorted(applied, key=lambda name: name != OPSET)


def _outcomes(run: Run, left_out: set[str], harm: Sequence[str]) -> dict[str, Outcome]:
    reason = f"taken back: {'; '.join(harm)}"
    found: dict[str, Outcome] = {}
    for outcome in run.journal.outcomes():
        if outcome.status is Status.APPLIED and outcome.pass_id in left_out:
            sites = tuple(Site(s.node, s.accuracy) for s in outcome.sites) or (Site(NodeRef()),)
            found[outcome.pass_id] = Outcome(outcome.pass_id, Status.REFUSED, reason, sites)
    return found
