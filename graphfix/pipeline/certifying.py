"""A certificate for each site of a run; sites that differ are blocked, and the rest stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import perf_counter

from msgspec import structs

from graphfix.authoring.declaring import PREPARE
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.workspace import SiteKey, site_key
from graphfix.ir.protos import FunctionKey, function_key, functions_of
from graphfix.pipeline.blame import MOST_RUNS, Attempt, Blame, Suspect
from graphfix.pipeline.faults import Kind, Specimen
from graphfix.pipeline.journal import Applied
from graphfix.pipeline.run import Run
from graphfix.pipeline.settings import Settings, without
from graphfix.proving.sites.calls import call_bindings, instantiate
from graphfix.proving.sites.prover import Prover
from graphfix.report import Accuracy, Certificate, Outcome, Site, Status, Verdict

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
