"""Never leaving more findings of a severity than the model had: what would is rolled back.

What is counted against is the model with its local functions inlined, because a function that is
called three times holds its findings once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from graphfix.authoring.declaring import PREPARE
from graphfix.engines.checking import check_model, file_findings
from graphfix.ir.model import Model
from graphfix.opset.stepping import OPSET
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame, Suspect
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.original import Original
from graphfix.pipeline.repair_stages import FUNCTION
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
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


def grown(before: Counts, after: Counts) -> list[str]:
    """Say of which severities there are more findings than before."""
    return [
        f"{before[severity]} findings of severity {severity} would become {number}"
        for severity, number in sorted(after.items())
        if number > before[severity]
    ]


def _counted(after: Sequence[Finding], before: Sequence[Finding]) -> Counts:
    """Count what blocks a result, without the rules that had failed on the model before.

    How often a rule fails depends on the nodes that there are; no pass is to blame for that.
    """
    failing = {finding.rule for finding in before if finding.fault}
    return blocking_by_severity(f for f in after if not f.fault or f.rule not in failing)


def worsened(before: Original) -> Callable[[Attempt, int], Blame | None]:
    """Return what blames passes for leaving more findings of a severity than the model had.

    Args:
        before: The model as it came.
    """

    def blame(attempt: Attempt, _: int) -> Blame | None:
        run, settings = attempt.run, attempt.settings
        if not _may_choose(settings):
            return None
        limits = blocking_by_severity(run.findings_before)
        after = _counted(run.findings_after, run.findings_before)
        if not grown(limits, after):
            return None
        if run.original.functions:
            limits = blocking_by_severity(_inlined_findings(before.again(), settings, run.hooks))
        return _leaving_out(
            attempt,
            limits,
            after,
            lambda found: _counted(found.run.findings_after, run.findings_before),
        )

    return blame


def contradicted(before: Original) -> Callable[[Attempt, int], Blame | None]:
    """Return what blames passes for laying open what is wrong with the file itself.

    A file whose sizes contradict each other may seem not to, as long as they are computed.

    Args:
        before: The model as it came.
    """

    def blame(attempt: Attempt, _: int) -> Blame | None:
        run, settings = attempt.run, attempt.settings
        if not _may_choose(settings):
            return None
        had = file_findings(before.validity.complaints, settings.target)
        if not grown(blocking_by_severity(had), blocking_by_severity(attempt.file_findings)):
            return None
        limits = blocking_by_severity((*had, *run.findings_before))
        after = _counted(attempt.findings_after, run.findings_before)
        return _leaving_out(
            attempt,
            limits,
            after,
            lambda found: _counted(found.findings_after, run.findings_before),
        )

    return blame


def _may_choose(settings: Settings) -> bool:
    """Say whether passes may be left out: the caller asks for a target, and for none by name."""
    return settings.target is not None and settings.named is None and settings.opset is None


def _leaving_out(
    attempt: Attempt,
    limits: Counts,
    after: Counts,
    left: Callable[[Attempt], Counts],
) -> Blame | None:
    """Blame passes one at a time, the opset first and then the latest, and then all of them.

    Args:
        attempt: The run.
        limits: How many findings of each severity there may be.
        after: How many it leaves.
        left: Counts what an attempt leaves.
    """
    run, settings = attempt.run, attempt.settings
    harm = grown(limits, after)
    applied = _blamed(run)
    if not harm or not applied:
        return None
    tries = [*({name} for name in applied[: MOST_RUNS - 1]), set(applied)]
    return Blame(
        tuple(Suspect(without(settings, out), _outcomes(run, out, harm)) for out in tries),
        lambda found: not grown(limits, left(found)),
    )


def _inlined_findings(
    model: Model, settings: Settings, hooks: Sequence[Hook]
) -> tuple[Finding, ...]:
    inliners = tuple(
        p for p in settings.available if p.kind == "graph" and p.removes_feature(FUNCTION)
    )
    assert settings.target is not None
    run = Run(model, replace(settings, target=None, named=inliners, verify="off"), hooks)
    execute(run)
    return check_model(run.model, settings.target, settings.assumed)


def _blamed(run: Run) -> list[str]:
    """Return the passes that may have added findings, the likeliest first."""
    kept = {p.id for p in run.settings.available if p.stage == PREPARE}
    kept |= {p.id for p in run.settings.available if p.removes_feature(FUNCTION)}
    applied = [name for name in reversed(run.journal.applied_passes()) if name not in kept]
    return sorted(applied, key=lambda name: name != OPSET)


def _outcomes(run: Run, left_out: set[str], harm: Sequence[str]) -> tuple[Outcome, ...]:
    reason = f"rolled back: {'; '.join(harm)}"
    found: list[Outcome] = []
    for outcome in run.journal.outcomes():
        if outcome.status is Status.APPLIED and outcome.pass_id in left_out:
            sites = tuple(Site(s.node, s.accuracy) for s in outcome.sites) or (Site(NodeRef()),)
            found.append(Outcome(outcome.pass_id, Status.REFUSED, reason, sites))
    return tuple(found)
