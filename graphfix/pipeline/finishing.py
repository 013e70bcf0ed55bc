"""From a run to its result: a certificate for each site, blame, report and exit code.

Sites that differ are blocked, and the rest stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import structs

from graphfix.analysis.example_sizes import example_sizes
from graphfix.analysis.front import front_of
from graphfix.analysis.packed_products import formula_said
from graphfix.analysis.settled_by_sizes import settled_by_sizes
from graphfix.analysis.switch import switch_of
from graphfix.authoring.declaring import PREPARE
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.workspace import SiteKey, site_key
from graphfix.engines.common_rules import given_inputs
from graphfix.errors import InvalidModel, PassBug, UsageError
from graphfix.ir.graph import Variable
from graphfix.ir.model import Model
from graphfix.ir.protos import FunctionKey, function_key, functions_of, nodes_of_model
from graphfix.ir.version import __version__
from graphfix.pipeline.attempts import attempts, broken, compared, contradicted, first_attempt
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame, Stage, Suspect, settled
from graphfix.pipeline.engine_verdict import judged_by_engine
from graphfix.pipeline.faults import Faults, Kind, Specimen
from graphfix.pipeline.hooks import Hook, telling_node, telling_progress
from graphfix.pipeline.original import NOTHING, Given, Original
from graphfix.pipeline.removers import opsets_of, with_actors, with_removers, with_withheld
from graphfix.pipeline.results import Result
from graphfix.pipeline.run import Run
from graphfix.pipeline.settings import Settings, without
from graphfix.pipeline.sweep import Applied
from graphfix.pipeline.verifying import original_on_disk
from graphfix.proving.sites.cases import WholeModel, too_big
from graphfix.proving.sites.certificate_cache import CertificateCache
from graphfix.proving.sites.cutting import call_bindings, instantiate
from graphfix.proving.sites.prover import Memory, Prover
from graphfix.proving.whole.options import long_sides
from graphfix.report import (
    MENDED,
    Accuracy,
    Asked,
    Certificate,
    Finding,
    Outcome,
    Report,
    Site,
    Status,
    Verdict,
    every_site_equal,
)

if TYPE_CHECKING:
    from graphfix.report.costs import IntegerPlaces

UNCALLED = "it refers to an attribute of its function, and nothing calls that"
CUT = "more nodes come before it than are proved with it"
WHOLE_FILE = "a change of the whole file, not of single nodes: nothing was cut out"


def certified(prover: Prover) -> Callable[[Attempt], Attempt]:
    """Return what proves every site of an attempt, where that was asked for."""

    def examine(attempt: Attempt) -> Attempt:
        run, settings = attempt.run, attempt.settings
        if settings.proves_sites:
            start = perf_counter()
            run.journal.applied = prove(run, settings, prover, run.journal.applied)
            run.seconds["certify"] = run.seconds.get("certify", 0.0) + perf_counter() - start
        return attempt

    return examine


def certified_at_own_sizes(prover: Prover) -> Callable[[Attempt], Attempt]:
    """Return what proves sites at their own sizes, where the whole was not compared at its own."""
    examine = certified(prover)

    def examine_again(attempt: Attempt) -> Attempt:
        if attempt.verification.status not in (Verdict.INCONCLUSIVE, Verdict.SKIPPED):
            return attempt
        prover.at_own_sizes = True
        return examine(attempt)

    return examine_again


def differing(attempt: Attempt, count: int) -> Blame | None:
    """Blame the sites that compute something else; a pass that is wrong ever again as a whole."""
    settings = attempt.settings
    wrong = tuple(each for each in attempt.run.journal.applied if each.differs)
    if not wrong:
        return None
    if count < MOST_RUNS // 2:
        keys = {site_key(name, each.site.node) for each in wrong for name in each.passes}
        settings = replace(settings, blocked=settings.blocked | keys)
    else:
        settings = without(settings, {each.passes[0] for each in wrong})
    specimens = tuple(_specimen(each, attempt.settings) for each in wrong)
    return Blame((Suspect(settings, rolled_back=wrong, specimens=specimens),))


def outcomes_of(attempt: Attempt) -> tuple[Outcome, ...]:
    """Return what the passes did, with proofs and with the sites that were rolled back."""
    failures = _failures(attempt.rolled_back)
    failed = {outcome.pass_id for outcome in failures}
    found = attempt.run.journal.outcomes()
    idle = [o for o in found if o.status is Status.NOT_NEEDED and o.pass_id in failed]
    return (*(o for o in found if o not in idle), *failures)


def prove(run: Run, settings: Settings, prover: Prover, sites: Sequence[Applied]) -> list[Applied]:
    """Return sites of a run with their certificates.

    Args:
        run: The run, made so that evidence was taken down.
        settings: What it was made with.
        prover: Makes the certificates.
        sites: The sites.
    """
    for hook in run.hooks:
        hook.stage("certify")
    cases: list[tuple[Evidence, Accuracy]] = []
    places: list[range | None] = []
    prepare = {p.id for p in settings.available if p.stage == PREPARE}
    ways = call_bindings(run.original)
    note_claims(sites, settings)
    for each in sites:
        places.append(None)
        if each.evidence is not None:
            every = instantiate(each.evidence, ways.get(_function_of(each.site), ()))
            places[-1] = range(len(cases), len(cases) + len(every))
            cases.extend((one, each.site.accuracy) for one in every)
    proofs = prover.prove(cases, functions_of(run.original), run.prepared) if cases else []
    proofs = [
        Certificate(Verdict.INCONCLUSIVE, reason=CUT)
        if evidence.cut and proof.status is Verdict.MISMATCH
        else proof
        for (evidence, _), proof in zip(cases, proofs, strict=True)
    ]
    found: list[Applied] = []
    for each, numbers in zip(sites, places, strict=True):
        if numbers is not None:
            found.append(structs.replace(each, certificate=_least([proofs[n] for n in numbers])))
        elif prepare.isdisjoint(each.passes) and each.computes:
            proof = Certificate(Verdict.INCONCLUSIVE, reason=WHOLE_FILE)
            found.append(structs.replace(each, certificate=proof))
        else:
            found.append(each)
    return found


def note_claims(sites: Sequence[Applied], settings: Settings) -> None:
    """Take down in the evidence of each site which special numbers all of its passes claim."""
    known = {p.id: p.claims for p in settings.available}
    for each in sites:
        if each.evidence is not None:
            claims = [known.get(name, frozenset[str]()) for name in each.passes]
            each.evidence.claims = frozenset[str].intersection(*claims)


def _function_of(site: Site) -> FunctionKey:
    """Return the local function that a site is in; names of nothing where in none."""
    kind, _, rest = site.node.scope.partition(":")
    domain, _, rest = rest.partition("::")
    name, _, overload = rest.partition("/")[0].partition(":")
    return function_key(domain, name, overload) if kind == "function" else ("", "", "")


def _least(proofs: Sequence[Certificate]) -> Certificate:
    """Return the worst of the proofs of one site, which may run in several ways."""
    if not proofs:
        return Certificate(Verdict.INCONCLUSIVE, reason=UNCALLED)
    order = (Verdict.MISMATCH, Verdict.INCONCLUSIVE, Verdict.LOSSY, Verdict.EQUAL)
    return min(proofs, key=lambda proof: order.index(proof.status))


def _specimen(wrong: Applied, settings: Settings) -> Specimen:
    """Return what a reproducer of a site that differs is made of."""
    proof = wrong.certificate
    reason = proof.reason if proof is not None else ""
    pieces = () if wrong.evidence is None else (wrong.evidence,)
    return Specimen(Kind.DIFFERS, wrong.passes, wrong.site.node, reason, settings, proof, pieces)


def _failures(rolled_back: Iterable[Applied]) -> list[Outcome]:
    grouped: dict[tuple[str, str], list[Site]] = {}
    first: dict[SiteKey, Applied] = {}
    for each in rolled_back:
        first.setdefault(site_key(each.passes[0], each.site.node), each)
    for each in first.values():
        reason = each.certificate.reason if each.certificate is not None else ""
        text = f"rolled back, because it computes something else: {reason}"
        grouped.setdefault((each.passes[0], text), []).append(each.proved)
    return [
        Outcome(pass_id, Status.FAILED, reason, tuple(sites))
        for (pass_id, reason), sites in grouped.items()
    ]


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
        given: What is known of the file.

    Raises:
        InvalidModel: No valid model is made of one that the ONNX checker or inference refuses.
        UsageError: The model cannot have inputs of the sizes that were asked for.
        PassBug: Leaving out any one pass does not give a valid model.
    """
    before = Original.of(model, settings.knowing, settings.op_types)
    attempt = _proved(before, first_attempt(before, model, settings, hooks), hooks, memory)
    run = attempt.run
    if faults is not None:
        for specimen in (*attempt.specimens, *_crashes(run), *run.rule_faults):
            faults.add(structs.replace(specimen, settings=settings))
    said = before.validity.checker or before.validity.typed
    if attempt.fault and said:
        raise InvalidModel(
            f"not a valid ONNX model: {said}",
            where=before.facts.path or "the model",
            hint=f"what is made of it is not valid either: {attempt.fault}",
        )
    if attempt.fault:
        free = replace(settings, shapes={})
        if settings.shapes and not first_attempt(before, before.again(), free, ()).fault:
            raise UsageError(
                f"the model cannot have inputs of these sizes: {attempt.fault}",
                where="--shape",
                hint="give sizes that it was made for, such as those of its configuration",
            )
        raise PassBug(f"the result is not valid: {attempt.fault}")
    judged = judged_by_engine(before, attempt)
    attempt, known = judged.attempt, judged.known
    sites = outcomes_of(attempt)
    outcomes = (*sites, *attempt.left_out)
    for hook in hooks:
        for outcome in outcomes:
            hook.pass_done(outcome)
    refused = judged.engine is not None and judged.engine.did is Asked.REFUSED
    sites_equal = every_site_equal(sites) and not refused
    code = exit_code(attempt, settings, sites_equal)
    missed = judged.engine is not None and judged.engine.missed and settings.verify != "off"
    if code == 0 and (_undone(outcomes, settings) or (missed and not settings.trust_rules)):
        code = 1
    opsets = opsets_of(run.model)
    open_inputs = _open_inputs(run.model)
    left = [finding for finding in attempt.findings_after if finding.blocks]
    sized = settled_by_sizes(run.model.graph, left) if open_inputs and code == 1 else ()
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
        front=_front(run.model, left, before) if code == 1 else (),
        switch=switch_of(run.model.graph, [f.node for f in left]) if left else "",
        sized=tuple(dict.fromkeys(f.feature for f in sized)),
        integers=_integers(before, attempt),
        placed_before=run.placed_before,
        placed_after=run.placed_after,
        io_changes=run.io_changes,
        verification=attempt.verification,
        reading=attempt.reading,
        engine=judged.engine,
        seconds={name: round(spent, 4) for name, spent in run.seconds.items()},
        notes=(*given.notes, *_level(before, attempt)),
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
    prover.progress, prover.at = telling_progress(hooks), telling_node(hooks)
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


def _integers(before: Original, attempt: Attempt) -> IntegerPlaces | None:
    """Return what is no longer computed in 8 bits, and what a consent would keep or spare."""
    found, asked = attempt.run.integers, attempt.settings
    if found is None or asked.target is None or asked.allow_lossy or asked.named is not None:
        return found
    target = replace(asked.target, steps=True)
    aside = attempts(before, ())(replace(asked, target=target, allow_lossy=True, verify="off")).run
    kept = found.before if aside.integers is None else aside.integers.after
    if kept > found.after:
        return replace(found, by_consent=kept)
    nodes = (attempt.run.model.node_count(), aside.model.node_count())
    return replace(found, nodes_by_consent=nodes) if nodes[1] < nodes[0] else found


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


def _level(before: Original, attempt: Attempt) -> tuple[str, ...]:
    """Return what is to be said of a comparison in which no operand was rounded to 8 bits."""
    packs = any(node.domain == "com.microsoft" for node in nodes_of_model(before.proto))
    said = formula_said([before.proto]) if packs and attempt.verification.samples else ""
    return (said,) if said else ()


def _open_inputs(model: Model) -> list[Variable]:
    """Return the inputs that have open sizes, of those with a known rank."""
    return [
        tensor
        for tensor in given_inputs(model)
        if tensor.shape is not None and not all(isinstance(dim, int) for dim in tensor.shape)
    ]


def _front(model: Model, findings: Iterable[Finding], before: Original) -> tuple[str, ...]:
    """Return where the model can be cut before all that is left; see `front_of`."""
    left = [finding.node for finding in findings]
    if not left or not all(node.op and node.scope.startswith("main") for node in left):
        return ()
    graph = before.proto.graph
    names = {name for node in graph.node for name in node.output}
    stored = {tensor.name for tensor in graph.initializer}
    stored |= {name for n in graph.node if n.op_type == "Constant" for name in n.output}
    # Where floats are widened, all have other names in what is written.
    made = {tensor.name for node in model.graph.nodes for tensor in node.outputs}
    found = front_of(model.graph, left, names, stored)
    return found or front_of(model.graph, left, made, stored) or ()


def exit_code(attempt: Attempt, settings: Settings, sites_equal: bool) -> int:
    """Return 0, 1 or 4 as the contract says.

    Args:
        attempt: The result and how it compared as a whole.
        settings: What was asked for.
        sites_equal: Whether each site was proved on its own, and no engine refused the whole.
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
