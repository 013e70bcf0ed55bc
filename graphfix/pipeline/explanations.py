"""Saying of each finding which passes could remove it, which would, and why not the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphfix.authoring.declaring import INTERFACE, NAMED, Pass
from graphfix.authoring.registry import ANY
from graphfix.engines.checking import file_findings
from graphfix.ir.model import Model
from graphfix.opset.stepping import OPSET
from graphfix.pipeline.attempts import overgrown
from graphfix.pipeline.legaliser import Attempt, Decision
from graphfix.pipeline.removers import LOSSY_UNASKED
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import Settings
from graphfix.report import LOSSY, Finding, NodeRef, Outcome, Site, Status
from graphfix.report.explanations import Candidate, Choice, Explanation
from graphfix.validity.examination import examine

_FIRST_CHOSEN = list(Choice)


def explanations_of(
    model: Model, settings: Settings, findings: Sequence[Finding]
) -> tuple[Explanation, ...]:
    """Return what a run with these settings would do about each finding of a model.

    The run is made on `model`, which is edited, and its values are not compared.

    Args:
        model: The model; the caller needs it no more.
        settings: As for a run; there is a target, and no pass is named.
        findings: What was found, with the passes that remove it.
    """
    run = Run(model, replace(settings, verify="off"), ())
    run.decisions = []
    execute(run)
    withheld = {} if settings.partial else overgrown(run, settings)
    known = _RunRecord(run, run.decisions, withheld.values())
    passes = {declared.id: declared for declared in settings.available}
    return tuple(known.explain(finding, passes) for finding in findings)


class _RunRecord:
    """What a run left over, by the outputs of nodes, which rewrites keep."""

    def __init__(self, run: Run, decisions: Sequence[Decision], planned: Iterable[Outcome]) -> None:
        self._settings = run.settings
        self._outcomes = run.journal.outcomes()
        self._planned = {o.pass_id: o.reason for o in planned}
        of_file = file_findings(examine(run.model).complaints, run.settings.target)
        self._left = {_key(finding) for finding in (*of_file, *run.findings_after)}
        self._decisions: dict[tuple[str, tuple[str, ...]], list[Decision]] = {}
        for decision in decisions:
            self._decisions.setdefault(_place(decision.node), []).append(decision)

    def explain(self, finding: Finding, passes: dict[str, Pass]) -> Explanation:
        """Return what would become of one finding."""
        acted = self._acted_on(finding.node)
        removed = _key(finding) not in self._left and not (set(acted) & set(self._planned))
        winners = tuple(name for name in acted if name in finding.removed_by)
        if removed and not acted:  # what is around the node was changed
            applied = {o.pass_id for o in self._outcomes if o.status is Status.APPLIED}
            winners = tuple(name for name in finding.removed_by if name in applied)
        others = tuple(name for name in acted if name not in finding.removed_by)
        decision = self._decision(finding.node, winners)
        candidates = [
            self._candidate(passes[name], finding, decision, winners, removed=removed)
            for name in finding.removed_by
        ]
        candidates.sort(key=lambda c: _FIRST_CHOSEN.index(c.choice))
        return Explanation(finding, removed, others, tuple(candidates))

    def _acted_on(self, node: NodeRef) -> tuple[str, ...]:
        """Return the passes that took a node away, or changed the model where it is one's."""
        return tuple(
            dict.fromkeys(
                outcome.pass_id
                for outcome in self._outcomes
                if outcome.status is Status.APPLIED
                and (not node.op or any(_takes(site, node) for site in outcome.sites))
            )
        )

    def _decision(self, node: NodeRef, winners: Sequence[str]) -> Decision | None:
        made = self._decisions.get(_place(node), [])
        for decision in reversed(made):
            if decision.chosen in winners:
                return decision
        return made[-1] if made else None

    def _candidate(
        self,
        declared: Pass,
        finding: Finding,
        decision: Decision | None,
        winners: Sequence[str],
        *,
        removed: bool,
    ) -> Candidate:
        name = declared.id
        tried = {a.pass_id: a for a in decision.attempts} if decision is not None else {}
        attempt = tried.get(name, Attempt(name))
        candidate = Candidate(
            name,
            Choice.CHOSEN,
            accuracy=attempt.accuracy,
            nodes=attempt.nodes,
            helped_by=attempt.helped_by,
        )
        if name in self._planned:
            return replace(candidate, choice=Choice.REFUSED, reason=self._planned[name])
        if name in winners and (decision is None or decision.chosen in ("", name)):
            return candidate
        if name in tried:
            if attempt.accuracy is None:
                choice = Choice.FAILED if attempt.failed else Choice.REFUSED
                return replace(candidate, choice=choice, reason=attempt.reason)
            chosen = decision.chosen if decision is not None else ""
            if chosen in tried and chosen != name:
                reason = _outranked(attempt, tried[chosen])
                return replace(candidate, choice=Choice.OUTRANKED, reason=reason)
        for outcome in self._outcomes:
            unasked = outcome.reason == LOSSY_UNASKED
            if outcome.pass_id == name and _speaks_of(outcome, finding.node) and not unasked:
                choice = Choice.FAILED if outcome.status is Status.FAILED else Choice.REFUSED
                return replace(candidate, choice=choice, reason=outcome.reason)
        reason = self._unsuitable(declared, finding, winners, removed=removed)
        return replace(candidate, choice=Choice.UNSUITABLE, reason=reason)

    def _unsuitable(
        self, declared: Pass, finding: Finding, winners: Sequence[str], *, removed: bool
    ) -> str:
        """Say why a pass was never tried at a node."""
        op = finding.node.op
        if removed:
            first = winners[0] if winners else "another pass"
            return f"not needed: {first} was there first"
        if declared.id == OPSET:
            return "the opset was not lowered: that would leave no less"
        if declared.stage == NAMED:
            return f"runs only when it is named: --passes {declared.id}"
        if declared.stage == INTERFACE and not self._settings.allow_io_change:
            return "needs --allow-io-change"
        if declared.accuracy is LOSSY and not self._settings.allow_lossy:
            return LOSSY_UNASKED
        ops = {name for _, name in declared.matches}
        if declared.kind == "rewrite" and not ops & {op, ANY}:
            what = f"at {op}" if op else "about the model"
            return f"it replaces {', '.join(sorted(ops))}; this finding is {what}"
        if declared.kind == "rewrite":
            return "the node's domain or opset is not one that it replaces"
        return "it found nothing here that it can change"


def _key(finding: Finding) -> tuple[str, str, tuple[str, ...], str]:
    node = finding.node
    return (finding.rule, finding.feature, node.outputs, "" if node.op else finding.message)


def _place(node: NodeRef) -> tuple[str, tuple[str, ...]]:
    return (node.op, node.outputs)


def _takes(site: Site, node: NodeRef) -> bool:
    """Say whether a site replaced or removed a node; inlining gives nodes another scope."""
    return any(_place(gone) == _place(node) for gone in (site.node, *site.removed))


def _speaks_of(outcome: Outcome, node: NodeRef) -> bool:
    """Say whether a pass refused or failed at a node, or as a whole."""
    return outcome.status in (Status.REFUSED, Status.FAILED) and any(
        not site.node.op or site.node.outputs == node.outputs for site in outcome.sites
    )


def _outranked(lost: Attempt, won: Attempt) -> str:
    """Say why one legal tree was preferred to another; see `Tree.cost`."""
    if lost.accuracy is not won.accuracy:
        return f"{lost.accuracy}, where {won.pass_id} is {won.accuracy}"
    if lost.nodes != won.nodes:
        return f"{lost.nodes} nodes, where {won.pass_id} needs {won.nodes}"
    return f"no better than {won.pass_id}, which comes first by name"
