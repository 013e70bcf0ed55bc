"""From a run to its result: checks, comparison, blame, report and exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from graphfix.analysis.example_sizes import example_sizes
from graphfix.analysis.front import front_of
from graphfix.engines.common_rules import given_inputs
from graphfix.errors import InvalidModel, PassBug
from graphfix.ir.graph import Variable
from graphfix.ir.model import Model
from graphfix.ir.version import __version__
from graphfix.pipeline.attempts import attempts, first_attempt
from graphfix.pipeline.blame import Attempt, Stage, settled
from graphfix.pipeline.certifying import (
    certified,
    certified_at_own_sizes,
    differing,
    outcomes_of,
)
from graphfix.pipeline.engine_verdict import judged_by_engine
from graphfix.pipeline.faults import Faults, Kind, Specimen
from graphfix.pipeline.hooks import Hook, node_reported, progress_reported
from graphfix.pipeline.original import NOTHING, Given, Original
from graphfix.pipeline.removers import opsets_of, with_actors, with_removers
from graphfix.pipeline.results import Result
from graphfix.pipeline.run import Run
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.verifying import original_on_disk
from graphfix.pipeline.whole_result import broken, compared
from graphfix.pipeline.withheld import with_withheld
from graphfix.pipeline.worse_findings import contradicted
from graphfix.proving.sites.captured import WholeModel, too_big
from graphfix.proving.sites.certificate_cache import CertificateCache
from graphfix.proving.sites.prover import Memory, Prover
from graphfix.proving.whole.smaller_images import long_sides
from graphfix.report import (
    MENDED,
    Outcome,
    Report,
    Status,
    Verdict,
    every_site_equal,
)


def finish(
    model: Model,
    settings: Settings,
    hooks: Sequence[Hook],
    memory: Memory | None = None,
    faults: Faults | None = None,
    *,
    given: Given = NOTHING,
) -> Result:
    """Run the passes over `model`, prove the result against what it was, and report.

    Sites that compute something else are rolled back. Where the result is wrong all the same, the
    passes that were applied are left out one at a time; the first that cures it is reported as
    failed, and the run continues without it.

    Args:
        model: The model, which is edited.
        settings: What was asked for.
        hooks: Notified of stages and passes.
        memory: Proofs of earlier runs.
        faults: Takes what passes did wrong, for reproducers.
        given: What is reported of the file.

    Raises:
        InvalidModel: No valid model is made of one that the ONNX checker refuses.
        PassBug: Leaving out any one pass does not give a valid model.
    """
    before = Original.of(model, settings.knowing, settings.op_types)
    attempt = _proved(before, first_attempt(before, model, settings, hooks), hooks, memory)
    run = attempt.run
    if faults is not None:
        for specimen in (*attempt.specimens, *_crashes(run), *run.rule_faults):
            faults.add(replace(specimen, settings=settings))
    if attempt.fault and before.validity.checker:
        raise InvalidModel(
            f"not a valid ONNX model: {before.validity.checker}",
            where=before.facts.path or "the model",
            hint=f"what is made of it is not valid either: {attempt.fault}",
        )
    if attempt.fault:
        raise PassBug(f"the result is not valid: {attempt.fault}")
    judged = judged_by_engine(before, attempt)
    attempt, known = judged.attempt, judged.known
    sites = outcomes_of(attempt)
    outcomes = (*sites, *attempt.left_out)
    for hook in hooks:
        for outcome in outcomes:
            hook.pass_done(outcome)
    code = exit_code(attempt, settings, every_site_equal(sites))
    if code == 0 and _undone(outcomes, settings):
        code = 1
    opsets = opsets_of(run.model)
    open_inputs = _open_inputs(run.model)
    report = Report(
        version=__version__,
        target=settings.target.name if settings.target is not None else "",
        input=given.facts or before.facts,
        output=None,
        # What was left out meanwhile may remove a finding all the same.
        findings_before=with_actors(
            with_removers(known, settings, run.opsets_before), attempt.findings_after, sites
        ),
        outcomes=outcomes,
        findings_after=with_withheld(
            with_removers(attempt.findings_after, settings, opsets), settings, opsets, run.spared
        ),
        open_inputs=tuple((t.name, t.shape) for t in open_inputs if t.shape is not None),
        example_sizes=example_sizes(run.model, open_inputs),
        front=_front(run.model, attempt, before) if code == 1 else (),
        io_changes=run.io_changes,
        verification=attempt.verification,
        reading=attempt.reading,
        engine=judged.engine,
        seconds={name: round(spent, 4) for name, spent in run.seconds.items()},
        notes=given.notes,
    )
    return Result(
        code, report, run.model, before.proto, tuple(run.journal.applied), attempt.rolled_back
    )


def _proved(
    before: Original, attempt: Attempt, hooks: Sequence[Hook], memory: Memory | None
) -> Attempt:
    """Prove each site and the whole result; leave out what turns out to be wrong."""
    asked = attempt.settings
    whole = WholeModel(
        lambda prepared: original_on_disk(before, prepared),
        asked.inputs,
        asked.seed,
        asked.shapes,
        too_big(before.proto),
        asked.inputs is None and not asked.shapes and bool(long_sides(before.proto)),
    )
    kept = None
    if asked.certificates is not None and asked.inputs is None and not asked.seed:
        kept = CertificateCache(asked.certificates, before.evaluators)
    prover = Prover(before.evaluators, memory=memory or Memory(), whole=whole, kept=kept)
    prover.at_own_sizes = asked.verify == "sites"
    prover.reported, prover.at = progress_reported(hooks), node_reported(hooks)
    again = attempts(before, hooks)
    sites = Stage(again, differing, certified(prover))
    laid_open = contradicted(before)
    results = Stage(
        lambda settings: settled(again(settings), sites),
        lambda each, count: broken(each, count) or laid_open(each, count),
        lambda each: compared(before, each),
    )
    own_sizes = Stage(
        lambda settings: compared(before, again(settings)),
        differing,
        certified_at_own_sizes(prover),
    )
    return settled(settled(settled(attempt, sites), results), own_sizes)


def _crashes(run: Run) -> Iterator[Specimen]:
    """Yield the places where passes raised, which were left as they were."""
    for crash in run.journal.crashes.values():
        yield Specimen(
            Kind.RAISES,
            (crash.pass_id,),
            crash.node,
            crash.reason,
            run.settings,
            pieces=crash.pieces,
        )


def _open_inputs(model: Model) -> list[Variable]:
    """Return the inputs that have open sizes, of those with a known rank."""
    return [
        tensor
        for tensor in given_inputs(model)
        if tensor.shape is not None and not all(isinstance(dim, int) for dim in tensor.shape)
    ]


def _front(model: Model, attempt: Attempt, before: Original) -> tuple[str, ...]:
    """Return where the model can be cut before all that is left; see `front_of`."""
    left = [finding.node for finding in attempt.findings_after if finding.blocks]
    if not left or not all(node.op and node.scope.startswith("main") for node in left):
        return ()
    names = {name for node in before.proto.graph.node for name in node.output}
    return front_of(model.graph, left, names) or ()


def exit_code(attempt: Attempt, settings: Settings, sites_equal: bool) -> int:
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
    if attempt.run.journal.labelled(MENDED) and (not settings.allow_mended or attempt.misread):
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
