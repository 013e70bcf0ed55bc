"""From a run to its result: checks, comparison, blame, report and exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from graphfix._version import __version__
from graphfix.checking import file_findings
from graphfix.engines.common_rules import given_inputs
from graphfix.errors import PassBug
from graphfix.graph import Shape
from graphfix.hooks import Hook
from graphfix.model import Model
from graphfix.pipeline.attributing import opsets_of, with_removers
from graphfix.pipeline.certifying import Certified, certified
from graphfix.pipeline.faults import Faults, Kind, Specimen
from graphfix.pipeline.loading import findings_of_loading
from graphfix.pipeline.original import Original
from graphfix.pipeline.results import Result
from graphfix.pipeline.running import Run
from graphfix.pipeline.settings import Settings, without
from graphfix.pipeline.validating import interface, new_complaints, validity_of
from graphfix.pipeline.verifying import on_disk, original_on_disk, verify, verify_in_engine
from graphfix.pipeline.worsening import unharmed
from graphfix.proving.sites.prover import Memory, Prover
from graphfix.proving.sites.watching import Whole, too_big
from graphfix.report import (
    APPROXIMATE,
    LOSSY,
    Finding,
    IoChange,
    NodeRef,
    Outcome,
    Report,
    Site,
    Status,
    Verdict,
    Verification,
    every_site_equal,
)

MAX_BLAMED = 8


@dataclass(slots=True)
class _Attempt:
    certified: Certified
    verification: Verification
    fault: str
    io_changes: tuple[IoChange, ...]
    file_findings: tuple[Finding, ...] = ()

    @property
    def run(self) -> Run:
        return self.certified.run

    @property
    def broken(self) -> bool:
        return bool(self.fault) or self.verification.status is Verdict.MISMATCH

    @property
    def findings_after(self) -> tuple[Finding, ...]:
        return (*self.file_findings, *self.run.findings_after)


def finish(
    model: Model,
    settings: Settings,
    hooks: Sequence[Hook],
    memory: Memory | None = None,
    faults: Faults | None = None,
) -> Result:
    """Run the passes over `model`, prove the result against what it was, and report.

    Sites that compute something else are taken back. Where the result is wrong all the same, the
    passes that were applied are left out one at a time; the first that cures it is reported as
    failed, and the run goes on without it.

    Args:
        model: The model, which is edited.
        settings: What was asked for.
        hooks: Told of stages and passes.
        memory: Proofs of earlier runs.
        faults: Takes what passes did wrong, for reproducers.

    Raises:
        PassBug: Leaving out any one pass does not give a valid model.
    """
    faults = faults or Faults()
    asked = settings
    before = Original.of(model, settings.knowing)
    whole = Whole(
        lambda prepared: original_on_disk(before, prepared),
        settings.inputs,
        settings.seed,
        settings.shapes,
        too_big(before.proto),
    )
    prover = Prover(before.evaluators, memory=memory or Memory(), whole=whole)
    run, settings, blamed = first_run(before, model, settings, hooks)
    for outcome in blamed:
        if outcome.status is Status.FAILED:
            blame = (outcome.pass_id,)
            faults.add(Specimen(Kind.RAISES, blame, NodeRef(), outcome.reason, asked))
    proved = certified(run, settings, prover, lambda given: _run(before.again(), given, hooks))
    for specimen in proved.specimens:
        faults.add(replace(specimen, settings=asked))
    attempt = _judge(before, proved)
    if attempt.broken:
        cured = _without_culprit(before, hooks, prover, attempt)
        if cured is not None:
            attempt, outcome = cured
            blamed.append(outcome)
            blame = (outcome.pass_id,)
            faults.add(Specimen(Kind.RAISES, blame, NodeRef(), outcome.reason, asked))
    for crash in attempt.run.journal.crashes.values():
        faults.add(
            Specimen(
                Kind.RAISES, (crash.pass_id,), crash.node, crash.reason, asked, pieces=crash.pieces
            )
        )
    if attempt.fault:
        raise PassBug(f"the result is not valid: {attempt.fault}")
    if settings.verify == "engine" and not attempt.broken:
        attempt = _in_engine(before, attempt)
    known = (*_of_file(before, settings), *attempt.run.findings_before)
    if settings.installed:
        known, attempt = _in_session(before, attempt, known)
    run = attempt.run
    outcomes = attempt.certified.outcomes()
    code = exit_code(attempt, settings, every_site_equal(outcomes))
    if code == 0 and _undone((*outcomes, *blamed), asked):
        code = 1
    report = Report(
        version=__version__,
        target=settings.target.name if settings.target is not None else "",
        input=before.facts,
        output=None,
        # What was left out meanwhile may remove a finding all the same.
        findings_before=with_removers(known, asked, run.opsets_before),
        outcomes=(*outcomes, *blamed),
        findings_after=with_removers(attempt.findings_after, asked, opsets_of(run.model)),
        open_inputs=_open_inputs(attempt.run.model),
        io_changes=attempt.io_changes,
        verification=attempt.verification,
        seconds={name: round(spent, 4) for name, spent in run.seconds.items()},
    )
    return Result(code, report, run.model)


def first_run(
    before: Original, model: Model, settings: Settings, hooks: Sequence[Hook]
) -> tuple[Run, Settings, list[Outcome]]:
    """Run the passes once, unproved, without those that cannot or had better not run.

    Args:
        before: The model as it came.
        model: The same, to be edited.
        settings: What was asked for.
        hooks: Told of stages and passes.

    Returns:
        The run, the settings it was made with in the end, and what was left out.

    Raises:
        PassBug: Leaving out the pass that raised it is not possible.
    """
    blamed: list[Outcome] = []
    while True:
        try:
            run = _run(model, settings, hooks)
            break
        except PassBug as bug:
            if all(declared.id != bug.pass_id for declared in settings.knowing):
                raise
            # What it did to the model cannot be undone, so the run begins anew without it.
            settings = without(settings, {bug.pass_id}, broken=True)
            blamed.append(Outcome(bug.pass_id, Status.FAILED, str(bug), (Site(NodeRef()),)))
            model = before.again()
    withheld = {} if settings.partial else overgrown(run)
    if withheld:
        settings = without(settings, set(withheld))
        blamed.extend(withheld.values())
        blamed.extend(
            outcome
            for outcome in run.journal.outcomes()
            if outcome.pass_id in withheld and outcome.status is Status.REFUSED
        )
        run = _run(before.again(), settings, hooks)
    run, settings, harmful = unharmed(
        run, settings, lambda given: _run(before.again(), given, hooks), before.again
    )
    blamed.extend(harmful.values())
    return run, settings, blamed


def _run(model: Model, settings: Settings, hooks: Sequence[Hook]) -> Run:
    run = Run(model, settings, hooks)
    run.execute()
    return run


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
            f"planned, not applied: it would add {growth[pass_id]} nodes, and "
            f"{left[0].rule} would be left all the same (--partial applies it)"
        )
        sites = tuple(Site(s.node, s.accuracy) for s in added[pass_id])
        planned[pass_id] = Outcome(pass_id, Status.REFUSED, reason, sites)
    return planned


def _judge(before: Original, proved: Certified) -> _Attempt:
    run, settings = proved.run, proved.settings
    model, hooks, io_changes = run.model, run.hooks, run.io_changes
    fault = ""
    start = perf_counter()
    found = before.validity
    if run.journal.applied_passes() or settings.shapes:
        found = validity_of(model, before.misdeclared)
        fault = new_complaints(before.validity, found)
        if not fault and interface(model) != run.expected_interface:
            fault = "inputs or outputs changed"
    run.seconds["validate"] = perf_counter() - start
    if fault:
        return _Attempt(proved, Verification(Verdict.SKIPPED, fault), fault, io_changes)
    for hook in hooks:
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
        reason = "no node was changed" if io_changes else "nothing was changed"
        verification = Verification(Verdict.EQUAL, reason, "the graph is the same")
        if settings.inputs is not None:  # whoever gives inputs wants to know whether it takes them
            found_there = verify(before, model, settings, lossy=False, prepared=run.prepared)
            verification = found_there if found_there.runs_never else verification
    run.seconds["verify"] = perf_counter() - start
    left = file_findings(found.complaints, settings.target)
    return _Attempt(proved, verification, "", io_changes, left)


def _of_file(before: Original, settings: Settings) -> tuple[Finding, ...]:
    return file_findings(before.validity.complaints, settings.target)


def _in_engine(before: Original, attempt: _Attempt) -> _Attempt:
    """Let the engine of this machine have the last word on a result."""
    run = attempt.run
    for hook in run.hooks:
        hook.stage("engine")
    start = perf_counter()
    verification = verify_in_engine(
        before,
        run.model,
        attempt.certified.settings,
        lossy=run.journal.labelled(LOSSY),
        prepared=run.prepared,
    )
    run.seconds["engine"] = perf_counter() - start
    return replace(attempt, verification=verification)


def _in_session(
    before: Original, attempt: _Attempt, known: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], _Attempt]:
    """Add what the onnxruntime installed here says of the model and of the result."""
    settings, model = attempt.certified.settings, attempt.run.model
    found = findings_of_loading(before.again(), original_on_disk(before), settings, known)
    if attempt.run.journal.applied_passes() or settings.shapes:
        file = on_disk(model.to_proto(), model.base_dir, spent=True)
        left = findings_of_loading(model, file, settings, attempt.findings_after)
    else:
        left = found
    added = replace(attempt, file_findings=(*attempt.file_findings, *left))
    return (*known, *found), added


def _open_inputs(model: Model) -> tuple[tuple[str, Shape], ...]:
    """Return the inputs that have open sizes, with their declared shapes."""
    return tuple(
        (tensor.name, tensor.shape)
        for tensor in given_inputs(model)
        if tensor.shape is not None and not all(isinstance(dim, int) for dim in tensor.shape)
    )


def _without_culprit(
    before: Original, hooks: Sequence[Hook], prover: Prover, broken: _Attempt
) -> tuple[_Attempt, Outcome] | None:
    why = broken.fault or broken.verification.reason or "the outputs differ"
    for pass_id in list(reversed(broken.run.journal.applied_passes()))[:MAX_BLAMED]:
        narrowed = without(broken.certified.settings, {pass_id})
        run = _run(before.again(), narrowed, hooks)
        proved = certified(run, narrowed, prover, lambda given: _run(before.again(), given, hooks))
        known = [o for o in broken.certified.taken_back if o not in proved.taken_back]
        proved.taken_back = (*known, *proved.taken_back)
        attempt = _judge(before, proved)
        if not attempt.broken:
            return attempt, Outcome(
                pass_id, Status.FAILED, f"its result was taken back: {why}", (Site(NodeRef()),)
            )
    return None


def exit_code(attempt: _Attempt, settings: Settings, sites_equal: bool) -> int:
    """Return 0, 1 or 4 as the contract says.

    Args:
        attempt: The result and how it compared as a whole.
        settings: What was asked for.
        sites_equal: Whether each site was proved on its own.
    """
    status = attempt.verification.status
    if status is Verdict.MISMATCH:
        return 4
    left = [f for f in attempt.findings_after if f.blocks]
    if left:
        return 1
    if settings.opset is not None and attempt.run.model.opset != settings.opset:
        return 1
    if attempt.verification.runs_never:
        return 1
    if sites_equal and settings.verify != "engine":
        return 0
    return 1 if status in (Verdict.INCONCLUSIVE, Verdict.SKIPPED) else 0


def _undone(outcomes: Sequence[Outcome], asked: Settings) -> bool:
    """Say whether what was named was not done: a pass refused or failed, or none did anything.

    With a target a named pass is for its findings alone, and none of them is nothing to do.
    """
    if asked.named is None:
        return False
    wanted = {declared.id for declared in asked.named}
    ours = [outcome for outcome in outcomes if outcome.pass_id in wanted]
    if any(outcome.status in (Status.REFUSED, Status.FAILED) for outcome in ours):
        return True
    return asked.target is None and all(o.status is not Status.APPLIED for o in ours)
