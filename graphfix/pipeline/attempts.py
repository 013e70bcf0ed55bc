"""Runs of the passes without those that cannot or had better not run, and what is wrong with each.

A result has to be valid, to compute the same, and to leave no more findings of a severity than the
model had; what would is rolled back. What is counted against is the model with its local functions
inlined, because a function that is called three times holds its findings once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

from msgspec import structs

from graphfix.authoring.declaring import PREPARE
from graphfix.authoring.registry import Catalogue
from graphfix.engines.checking import check_model, features_of, file_findings
from graphfix.errors import PassBug
from graphfix.ir.model import Model
from graphfix.opset.stepping import OPSET
from graphfix.pipeline.binding import bind_shapes
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame, Stage, Suspect, settled
from graphfix.pipeline.faults import Kind, Specimen
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.original import Original
from graphfix.pipeline.removers import ALLOW_IO_CHANGE, opsets_of, with_removers
from graphfix.pipeline.repair_stages import FUNCTION
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import Settings, without
from graphfix.pipeline.validation import (
    Validity,
    contradicted_outputs,
    interface,
    new_complaints,
    validity_of,
    with_mistyped_outputs,
)
from graphfix.pipeline.verifying import verify, verify_reading
from graphfix.report import (
    APPROXIMATE,
    LOSSY,
    MENDED,
    Finding,
    NodeRef,
    Outcome,
    Severity,
    Site,
    Status,
    Verdict,
    Verification,
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
        last = _counted(run.before_last, run.findings_before)
        if grown(last, after):
            limits &= last  # what is only tidied up at the end may cost nothing
        elif not grown(limits, after):
            return None
        elif run.original.functions:
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
    removers = Catalogue.of(settings.available).removing(FUNCTION)
    inliners = tuple(p for p in removers if p.kind == "graph")
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
    known = before.validity
    run = Run(model, settings, hooks, known_faults=(features_of(known.complaints), known.typed))
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
    withheld = {} if attempt.settings.partial else overgrown(attempt.run, attempt.settings)
    if not withheld:
        return None
    refused = [
        outcome
        for outcome in attempt.run.journal.outcomes()
        if outcome.pass_id in withheld and outcome.status is Status.REFUSED
    ]
    settings = without(attempt.settings, set(withheld))
    return Blame((Suspect(settings, (*withheld.values(), *refused)),))


def overgrown(run: Run, settings: Settings) -> dict[str, Outcome]:
    """Return the decompositions that a run had better not have made, by pass.

    Where findings are left all the same and the graph more than doubled, the passes that added
    most are planned only, until it no longer doubles; ``--partial`` applies them. What consent to
    another interface removes, as a ZipMap at the end, is not left all the same.
    """
    excess = run.model.node_count() - 2 * max(run.plain_nodes, 1)
    if excess <= 0:
        return {}
    known = with_removers(run.findings_after, settings, opsets_of(run.model))
    left = [f for f in known if f.blocks and all(o != ALLOW_IO_CHANGE for _, o in f.needs)]
    if not left:
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


_PARTS = 4  # in which passes are left out together


def compared(before: Original, attempt: Attempt) -> Attempt:
    """Check the result of an attempt, and compare it with the model as it came."""
    run, settings, model = attempt.run, attempt.settings, attempt.run.model
    fault = ""
    start = perf_counter()
    found = before.validity
    if run.journal.applied_passes() or settings.shapes:
        found = validity_of(model, before.misdeclared)
        fault = new_complaints(before.validity, _judged(found, before, settings))
        if fault and settings.shapes:  # which may contradict what the file computes
            bound = before.again()
            bind_shapes(bound, settings.shapes)
            was = validity_of(bound, before.misdeclared)
            fault = new_complaints(was, _judged(found, before, settings))
        if fault and (contradicted := contradicted_outputs(before.again())):
            known = before.misdeclared | frozenset(contradicted)
            now = _judged(validity_of(model, known), before, settings)
            fault = new_complaints(before.validity, now)
        if not fault and interface(model) != run.expected_interface:
            fault = "inputs or outputs changed"
    run.seconds["validate"] = perf_counter() - start
    if fault:
        return structs.replace(
            attempt, verification=Verification(Verdict.SKIPPED, fault), fault=fault
        )
    for hook in run.hooks:
        hook.stage("verify")
    start = perf_counter()
    if run.journal.applied_passes() or settings.verify == "off":
        verification = verify(
            before,
            model,
            settings,
            lossy=run.journal.labelled(LOSSY),
            approximate=run.journal.labelled(APPROXIMATE),
            prepared=run.prepared,
        )
    else:
        reason = "no node was changed" if run.io_changes else "nothing was changed"
        verification = Verification(Verdict.EQUAL, reason, "the graph is the same")
        if settings.inputs is not None:  # whoever gives inputs wants to know whether it takes them
            found_there = verify(before, model, settings, lossy=False, prepared=run.prepared)
            verification = found_there if found_there.runs_never else verification
    reading = None
    if run.journal.labelled(MENDED):
        read = run.prepared if run.prepared is not None else model.to_proto()
        reading = verify_reading(before, read, settings)
        # Where nothing was repaired after it, the file as it was read is the result.
        alone = settings.verify != "off" and (run.prepared is None or read == model.to_proto())
        verification = reading if alone or reading.status is Verdict.MISMATCH else verification
    run.seconds["verify"] = perf_counter() - start
    complaints = with_mistyped_outputs(found.complaints, model, settings.knowing)
    left = file_findings(complaints, settings.target)
    return structs.replace(attempt, verification=verification, file_findings=left, reading=reading)


def _judged(found: Validity, before: Original, settings: Settings) -> Validity:
    """Return what counts of the complaints about a result.

    Inference ends where the checker does: what it says only now the file may have had all along.
    What follows of it for nodes is counted with the findings.
    """
    if before.validity.checker and not before.validity.inference and settings.target:
        return replace(found, inference="", complaints=())
    return found


def broken(attempt: Attempt, _: int) -> Blame | None:
    """Blame the passes that were applied for a result that is wrong, the latest first.

    Each alone comes first. Where several are at fault, or a stage that follows from what they did,
    more and more of the latest are left out together, and in the end all of them.
    """
    if not attempt.broken:
        return None
    why = attempt.fault or attempt.verification.reason or "the outputs differ"
    reason = f"its result was rolled back: {why}"
    latest = attempt.run.journal.applied_passes()[::-1]
    suspects = [failed(attempt.settings, name, reason) for name in latest]
    if attempt.fault and len(latest) > 1:
        shares = dict.fromkeys(-(-len(latest) * part // _PARTS) for part in range(1, _PARTS + 1))
        together = [
            failed_together(attempt.settings, latest[:count], reason)
            for count in shares
            if count > 1
        ]
        suspects = [*suspects[: MOST_RUNS - len(together)], *together]
    return Blame(tuple(suspects), lambda found: not found.broken)
