"""A certificate for each site of a run; sites that differ are taken back, and the rest stays.

A site is taken back by running once more from the model as it came, with the site blocked: what
later passes made of it needs no undoing then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from graphfix.authoring.declaring import PREPARE
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.workspace import SiteKey, site_key
from graphfix.certificates.cutting import Functions, function_key
from graphfix.certificates.proving import Prover
from graphfix.pipeline.running import OPSET_PASS, Run
from graphfix.pipeline.settings import Settings
from graphfix.report import Certificate, Outcome, Site, Status, Verdict

# After so many runs a pass that is still wrong somewhere is left out as a whole.
MOST_ROLLBACKS = 6
WHOLE_FILE = "a change of the whole file, not of single nodes: nothing was cut out"


@dataclass(slots=True)
class Certified:
    """A run none of whose sites is known to be wrong.

    Attributes:
        run: The run.
        settings: What it was made with: blocked sites and passes left out.
        certificates: By the id of the site.
        taken_back: What was undone, as failures of passes.
    """

    run: Run
    settings: Settings
    certificates: Mapping[int, Certificate] = field(default_factory=dict[int, Certificate])
    taken_back: Sequence[Outcome] = ()

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return what the passes did, with proofs and with what was undone."""
        failed = {outcome.pass_id for outcome in self.taken_back}
        found = self.run.journal.outcomes(self.certificates)
        idle = [o for o in found if o.status is Status.NOT_NEEDED and o.pass_id in failed]
        return (*(o for o in found if o not in idle), *self.taken_back)


def without(settings: Settings, pass_ids: set[str]) -> Settings:
    """Return settings for a run without some passes."""
    named = settings.named
    return replace(
        settings,
        available=tuple(p for p in settings.available if p.id not in pass_ids),
        named=None if named is None else tuple(p for p in named if p.id not in pass_ids),
    )


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
    if not settings.proves_sites:
        return Certified(run, settings)
    for count in range(2 * MOST_ROLLBACKS):
        start = perf_counter()
        certificates = _prove(run, settings, prover)
        run.seconds["certify"] = run.seconds.get("certify", 0.0) + perf_counter() - start
        wrong = _wrong(run, settings, certificates)
        if not wrong:
            return Certified(run, settings, certificates, _failures(taken_back))
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
    return Certified(run, settings, _prove(run, settings, prover), _failures(taken_back))


def _prove(run: Run, settings: Settings, prover: Prover) -> dict[int, Certificate]:
    for hook in run.hooks:
        hook.stage("certify")
    sites: dict[int, tuple[Site, Evidence]] = {}
    found: dict[int, Certificate] = {}
    prepare = {p.id for p in settings.available if p.stage == PREPARE}
    for outcome in run.journal.outcomes():
        if outcome.status is not Status.APPLIED:
            continue
        for site in outcome.sites:
            evidence = run.ledger.of(site) if run.ledger is not None else None
            if evidence is not None:
                sites[id(site)] = (site, evidence)
            elif outcome.pass_id not in prepare and not _needs_none(outcome.pass_id, site):
                found[id(site)] = Certificate(Verdict.INCONCLUSIVE, reason=WHOLE_FILE)
    if sites:
        cases = [(evidence, site.accuracy) for site, evidence in sites.values()]
        proofs = prover.prove(cases, _functions(run))
        found.update(zip(sites, proofs, strict=True))
    return found


def _needs_none(pass_id: str, site: Site) -> bool:
    """Say whether a site computes nothing: unreachable nodes that went, an opset's number."""
    return bool(site.removed and not site.added) or (pass_id == OPSET_PASS and not site.node.op)


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
