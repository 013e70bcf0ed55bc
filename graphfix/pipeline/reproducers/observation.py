"""Running what a reproducer says, and looking whether the fault shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onnx import ModelProto

from graphfix.errors import GraphfixError, PassBug
from graphfix.ir.protos import functions_of
from graphfix.pipeline.faults import Kind
from graphfix.pipeline.findings import findings_of
from graphfix.pipeline.finishing import finish, note_claims
from graphfix.pipeline.model_files import load
from graphfix.pipeline.model_types import evaluators_for
from graphfix.pipeline.reproducers.proving import prove_again
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import Settings
from graphfix.proving.values.kinds import Feed
from graphfix.report import Certificate, Finding, NodeRef, Outcome, Status, Verdict

LEFT_ALONE = "the pass leaves the place alone"


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen.

    Attributes:
        shows: Whether the fault shows; None where that cannot be determined.
        reason: What was seen, in one line.
        node: Where.
        certificate: The proof of the site, where there is one.
        failing: The inputs on which both sides of the site differ, where there are any.
    """

    shows: bool | None
    reason: str
    node: NodeRef | None = None
    certificate: Certificate | None = None
    failing: Feed | None = None


def observe(
    proto: ModelProto,
    settings: Settings,
    kind: Kind,
    passes: tuple[str, ...],
    *,
    given: Feed | None = None,
    whole: bool = False,
) -> Observation:
    """Run passes over a model and look whether one of them is at fault.

    Args:
        proto: The model; not changed.
        settings: What to run.
        kind: How the fault shows.
        passes: The passes of the site, the one at fault first; or the rule.
        given: Inputs to begin the certificate with, by the names of the model.
        whole: Whether the model is the whole one: then it is run and compared as it was.

    Raises:
        InvalidModel: The model cannot be read.
    """
    if kind is Kind.RULE:
        return _failing_rule(proto, settings, passes[0])
    if kind is Kind.DIFFERS and not whole:
        return _differs(proto, settings, passes, given)
    verify = settings.verify if whole or kind is Kind.FAULT else "off"
    try:
        result = finish(load(proto), replace(settings, verify=verify), ())
    except GraphfixError:
        raise
    except PassBug as bug:
        if kind is Kind.FAULT or bug.pass_id in passes:
            return Observation(True, str(bug))
        return Observation(None, f"the run ends in another fault: {bug}")
    except Exception as error:
        return Observation(True, f"{type(error).__name__}: {error}")
    if kind is Kind.FAULT:
        return Observation(False, f"the run ends with exit code {result.exit_code}")
    return _failed(result.report.outcomes, passes) or _unharmed(result.report.outcomes, passes)


def _failing_rule(proto: ModelProto, settings: Settings, rule: str) -> Observation:
    """Ask the rules about a model as it is, and then about what a run gives."""
    found = _fault_of(rule, findings_of(load(proto), settings))
    if found is None:
        result = finish(load(proto), replace(settings, verify="off"), ())
        found = _fault_of(rule, result.report.findings_after)
    if found is None:
        return Observation(False, "the rule does not fail")
    return Observation(True, found.fault, found.node)


def _fault_of(rule: str, findings: Sequence[Finding]) -> Finding | None:
    return next((f for f in findings if f.fault and f.rule == rule), None)


def _failed(outcomes: tuple[Outcome, ...], passes: tuple[str, ...]) -> Observation | None:
    for outcome in outcomes:
        if outcome.status is Status.FAILED and outcome.pass_id in passes:
            return Observation(True, outcome.reason, outcome.sites[0].node)
    return None


def _unharmed(outcomes: tuple[Outcome, ...], passes: tuple[str, ...]) -> Observation:
    for outcome in outcomes:
        if outcome.pass_id in passes and outcome.status is Status.APPLIED:
            return Observation(False, "the pass is applied", outcome.sites[0].node)
    for outcome in outcomes:
        if outcome.pass_id in passes and outcome.status is Status.REFUSED:
            reason = f"the pass refuses: {outcome.reason}"
            return Observation(False, reason, outcome.sites[0].node)
    return Observation(False, LEFT_ALONE)


def _differs(
    proto: ModelProto, settings: Settings, passes: tuple[str, ...], given: Feed | None
) -> Observation:
    model = load(proto)
    evaluators = evaluators_for(model, settings.available)
    run = Run(model, replace(settings, verify="sites"))
    try:
        execute(run)
    except PassBug as bug:
        if bug.pass_id in passes:
            return Observation(True, str(bug))
        return Observation(None, f"another pass is at fault: {bug}")
    outcomes = run.journal.outcomes()
    failed = _failed(outcomes, passes)
    if failed is not None:
        return failed
    note_claims(run.journal.applied, settings)
    sites = [
        (each.site, each.evidence)
        for each in run.journal.applied
        if each.evidence is not None and not set(passes).isdisjoint(each.passes)
    ]
    if not sites:
        return _unharmed(outcomes, passes)
    cases = [(evidence, site.accuracy) for site, evidence in sites]
    proofs = prove_again(cases, functions_of(proto), evaluators, given)
    order = (Verdict.MISMATCH, Verdict.INCONCLUSIVE, Verdict.LOSSY, Verdict.EQUAL)
    (site, _), proof = min(
        zip(sites, proofs, strict=True),
        key=lambda pair: order.index(pair[1].certificate.status),
    )
    found = proof.certificate
    if found.status is Verdict.INCONCLUSIVE:
        return Observation(None, found.reason, site.node, found)
    if found.status is not Verdict.MISMATCH:
        reason = f"both sides are {found.status} on {found.samples} samples"
        return Observation(False, reason, site.node, found)
    return Observation(True, found.reason, site.node, found, proof.failing)
