"""A certificate for each site of a run; sites that differ are taken back, and the rest stays.

A site is taken back by running once more from the model as it came, with the site blocked: what
later passes made of it needs no undoing then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from onnx import ModelProto

from graphfix.authoring.declaring import PREPARE
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.workspace import SiteKey, site_key
from graphfix.pipeline.faults import Kind, Specimen
from graphfix.pipeline.journal import Applied
from graphfix.pipeline.running import Run
from graphfix.pipeline.settings import Settings, without
from graphfix.proving.sites.binding import ways_of_calling, ways_of_running
from graphfix.proving.sites.cutting import FunctionKey, Functions, function_key
from graphfix.proving.sites.prover import Prover
from graphfix.report import Accuracy, Certificate, Outcome, Site, Status, Verdict

# After so many runs a pass that is still wrong somewhere is left out as a whole.
MOST_ROLLBACKS = 6
UNCALLED = "it refers to an attribute of its function, and nothing calls that"
CUT = "more nodes come before it than are proved with it"
WHOLE_FILE = "a change of the whole file, not of single nodes: nothing was cut out"


@dataclass(slots=True)
class Certified:
    """A run none of whose sites is known to be wrong.

    Attributes:
        run: The run.
        settings: What it was made with: blocked sites and passes left out.
        taken_back: What was undone, as failures of passes.
        specimens: The same sites, for reproducers.
    """

    run: Run
    settings: Settings
    taken_back: Sequence[Outcome] = ()
    specimens: Sequence[Specimen] = ()

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return what the passes did, with proofs and with what was undone."""
        failed = {outcome.pass_id for outcome in self.taken_back}
        found = self.run.journal.outcomes()
        idle = [o for o in found if o.status is Status.NOT_NEEDED and o.pass_id in failed]
        return (*(o for o in found if o not in idle), *self.taken_back)


def certified(
    run: Run, settings: Settings, prover: Prover, again: Callable[[Settings], Run]
) -> Certified:
    """Prove every site of a run; run again without those that differ, until none does.

    Args:
        run: The run, made with `settings`.
        settings: What was asked for.
        prover: Makes the certificates.
        again: Runs from the model as it came.
    """
    taken_back: dict[SiteKey, Applied] = {}
    specimens: list[Specimen] = []
    if not settings.proves_sites:
        return Certified(run, settings)
    for count in range(2 * MOST_ROLLBACKS):
        start = perf_counter()
        run.journal.applied = prove(run, settings, prover, run.journal.applied)
        run.seconds["certify"] = run.seconds.get("certify", 0.0) + perf_counter() - start
        wrong = [each for each in run.journal.applied if each.differs]
        if not wrong:
            return Certified(run, settings, _failures(taken_back.values()), specimens)
        specimens.extend(_specimen(each, settings) for each in wrong)
        for each in wrong:
            taken_back.setdefault(site_key(each.passes[0], each.site.node), each)
        if count < MOST_ROLLBACKS:
            keys = {site_key(name, each.site.node) for each in wrong for name in each.passes}
            settings = replace(settings, blocked=settings.blocked | keys)
        else:
            settings = without(settings, {each.passes[0] for each in wrong})
        seconds = run.seconds
        run = again(settings)
        for name, spent in seconds.items():
            run.seconds[name] = run.seconds.get(name, 0.0) + spent
    run.journal.applied = prove(run, settings, prover, run.journal.applied)
    return Certified(run, settings, _failures(taken_back.values()), specimens)


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
    ways = ways_of_calling(run.original)
    note_claims(sites, settings)
    for each in sites:
        places.append(None)
        if each.evidence is not None:
            every = ways_of_running(each.evidence, ways.get(_function_of(each.site), ()))
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
            found.append(replace(each, certificate=_least([proofs[n] for n in numbers])))
        elif prepare.isdisjoint(each.passes) and not _needs_none(each):
            proof = Certificate(Verdict.INCONCLUSIVE, reason=WHOLE_FILE)
            found.append(replace(each, certificate=proof))
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
    """Return the local function that a site stands in; names of nothing where in none."""
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


def _needs_none(applied: Applied) -> bool:
    """Say whether a site computes nothing: unreachable nodes that went, a number of the file."""
    return not applied.computes or bool(applied.site.removed and not applied.site.added)


def functions_of(proto: ModelProto) -> Functions:
    """Return the local functions of a model by what they are called by."""
    return {function_key(f.domain, f.name, f.overload): f for f in proto.functions}


def _specimen(wrong: Applied, settings: Settings) -> Specimen:
    """Return what a reproducer of a site that differs is made of."""
    proof = wrong.certificate
    reason = proof.reason if proof is not None else ""
    pieces = () if wrong.evidence is None else (wrong.evidence,)
    return Specimen(Kind.DIFFERS, wrong.passes, wrong.site.node, reason, settings, proof, pieces)


def _failures(taken_back: Iterable[Applied]) -> list[Outcome]:
    grouped: dict[tuple[str, str], list[Site]] = {}
    for each in taken_back:
        reason = each.certificate.reason if each.certificate is not None else ""
        text = f"taken back, because it computes something else: {reason}"
        grouped.setdefault((each.passes[0], text), []).append(each.proved)
    return [
        Outcome(pass_id, Status.FAILED, reason, tuple(sites))
        for (pass_id, reason), sites in grouped.items()
    ]
