"""A certificate for each site of a run; sites that differ are taken back, and the rest stays.

A site is taken back by running once more from the model as it came, with the site blocked: what
later passes made of it needs no undoing then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from graphfix.authoring.declaring import PREPARE
from graphfix.authoring.evidence import Evidence, Ledger
from graphfix.authoring.workspace import SiteKey, site_key
from graphfix.pipeline.faults import Kind, Specimen
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
        certificates: By the id of the site.
        taken_back: What was undone, as failures of passes.
        specimens: The same sites, for reproducers.
    """

    run: Run
    settings: Settings
    certificates: Mapping[int, Certificate] = field(default_factory=dict[int, Certificate])
    taken_back: Sequence[Outcome] = ()
    specimens: Sequence[Specimen] = ()

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return what the passes did, with proofs and with what was undone."""
        failed = {outcome.pass_id for outcome in self.taken_back}
        found = self.run.journal.outcomes(self.certificates)
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
    taken_back: dict[SiteKey, tuple[str, Site]] = {}
    specimens: list[Specimen] = []
    if not settings.proves_sites:
        return Certified(run, settings)
    for count in range(2 * MOST_ROLLBACKS):
        start = perf_counter()
        certificates = prove(run, settings, prover)
        run.seconds["certify"] = run.seconds.get("certify", 0.0) + perf_counter() - start
        wrong = _wrong(run, settings, certificates)
        if not wrong:
            return Certified(run, settings, certificates, _failures(taken_back), specimens)
        specimens.extend(_specimens(run, settings, wrong))
        for pass_ids, site in wrong:
            taken_back.setdefault(site_key(pass_ids[0], site.node), (pass_ids[0], site))
        if count < MOST_ROLLBACKS:
            keys = {site_key(p, site.node) for pass_ids, site in wrong for p in pass_ids}
            settings = replace(settings, blocked=settings.blocked | keys)
        else:
            settings = without(settings, {pass_ids[0] for pass_ids, _ in wrong})
        seconds = run.seconds
        run = again(settings)
        for name, spent in seconds.items():
            run.seconds[name] = run.seconds.get(name, 0.0) + spent
    return Certified(run, settings, prove(run, settings, prover), _failures(taken_back), specimens)


def prove(
    run: Run, settings: Settings, prover: Prover, only: Collection[int] | None = None
) -> dict[int, Certificate]:
    """Return the certificates of the sites of a run, by the id of the site.

    Args:
        run: The run, made with a ledger.
        settings: What it was made with.
        prover: Makes the certificates.
        only: The ids of the sites that are wanted; None for all.
    """
    for hook in run.hooks:
        hook.stage("certify")
    cases: list[tuple[Evidence, Accuracy]] = []
    places: dict[int, list[int]] = {}
    found: dict[int, Certificate] = {}
    prepare = {p.id for p in settings.available if p.stage == PREPARE}
    ways = ways_of_calling(run.original)
    note_claims(run)
    for outcome in run.journal.outcomes():
        if outcome.status is not Status.APPLIED:
            continue
        for site in outcome.sites:
            if only is not None and id(site) not in only:
                continue
            evidence = run.ledger.of(site) if run.ledger is not None else None
            if evidence is not None:
                every = ways_of_running(evidence, ways.get(_function_of(site), ()))
                places[id(site)] = list(range(len(cases), len(cases) + len(every)))
                cases.extend((one, site.accuracy) for one in every)
            elif outcome.pass_id not in prepare and not _needs_none(run.ledger, site):
                found[id(site)] = Certificate(Verdict.INCONCLUSIVE, reason=WHOLE_FILE)
    proofs = prover.prove(cases, _functions(run), run.prepared) if cases else []
    proofs = [
        Certificate(Verdict.INCONCLUSIVE, reason=CUT)
        if evidence.cut and proof.status is Verdict.MISMATCH
        else proof
        for (evidence, _), proof in zip(cases, proofs, strict=True)
    ]
    found.update((key, _least([proofs[n] for n in numbers])) for key, numbers in places.items())
    return found


def note_claims(run: Run) -> None:
    """Take down in the evidence of each site which special numbers all of its passes claim."""
    known = {p.id: p.claims for p in run.settings.available}
    seen: set[int] = set()
    for outcome in run.journal.outcomes():
        claimed = known.get(outcome.pass_id, frozenset())
        for site in outcome.sites if outcome.status is Status.APPLIED else ():
            evidence = run.ledger.of(site) if run.ledger is not None else None
            if evidence is not None:
                evidence.claims = evidence.claims & claimed if id(site) in seen else claimed
                seen.add(id(site))


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


def _needs_none(ledger: Ledger | None, site: Site) -> bool:
    """Say whether a site computes nothing: unreachable nodes that went, a number of the file."""
    number = ledger is not None and ledger.is_number(site)
    return number or bool(site.removed and not site.added)


def _functions(run: Run) -> Functions:
    return {function_key(f.domain, f.name, f.overload): f for f in run.original.functions}


def _wrong(
    run: Run, settings: Settings, certificates: Mapping[int, Certificate]
) -> list[tuple[list[str], Site]]:
    """Return the sites that differ, each with its passes: the one that matched first."""
    passes: dict[int, list[str]] = {}
    sites: dict[int, Site] = {}
    for outcome in run.journal.outcomes():
        for site in outcome.sites if outcome.status is Status.APPLIED else ():
            proof = certificates.get(id(site))
            if proof is not None and proof.status is Verdict.MISMATCH:
                passes.setdefault(id(site), []).append(outcome.pass_id)
                sites[id(site)] = replace(site, certificate=proof)
    ops = {p.id: {op for _, op in p.matches} for p in settings.available}
    return [
        (sorted(ids, key=lambda name: sites[key].node.op not in ops.get(name, ())), sites[key])
        for key, ids in passes.items()
    ]


def _specimens(
    run: Run, settings: Settings, wrong: Sequence[tuple[list[str], Site]]
) -> Iterator[Specimen]:
    """Yield what a reproducer of each site that differs is made of."""
    pieces: dict[SiteKey, Evidence] = {}
    for outcome in run.journal.outcomes():
        for site in outcome.sites:
            evidence = run.ledger.of(site) if run.ledger is not None else None
            if evidence is not None:
                pieces[site_key(outcome.pass_id, site.node)] = evidence
    for pass_ids, site in wrong:
        proof = site.certificate
        piece = pieces.get(site_key(pass_ids[0], site.node))
        yield Specimen(
            Kind.DIFFERS,
            tuple(pass_ids),
            site.node,
            proof.reason if proof is not None else "",
            settings,
            proof,
            () if piece is None else (piece,),
        )


def _failures(taken_back: Mapping[SiteKey, tuple[str, Site]]) -> list[Outcome]:
    grouped: dict[tuple[str, str], list[Site]] = {}
    for pass_id, site in taken_back.values():
        reason = site.certificate.reason if site.certificate is not None else ""
        text = f"taken back, because it computes something else: {reason}"
        grouped.setdefault((pass_id, text), []).append(site)
    return [
        Outcome(pass_id, Status.FAILED, reason, tuple(sites))
        for (pass_id, reason), sites in grouped.items()
    ]
