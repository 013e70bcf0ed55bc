"""Asking the rules of a target about every node: what blocks it, all at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from msgspec import Struct

from graphfix.analysis.folding.known_values import infer_computed_sizes
from graphfix.analysis.inference import infer_model
from graphfix.authoring.declaring import Unknown
from graphfix.engines.engine import engine_of
from graphfix.engines.known_rules import RuleSet, file_rules, rules_for
from graphfix.engines.profile import Target
from graphfix.engines.rule import (
    FAILED,
    Answer,
    Failed,
    Rule,
    Yes,
    answer_instead,
    answer_of,
    failed,
    hook_result,
    read_graphs,
)
from graphfix.engines.targets import load_target
from graphfix.ir.graph import Graph, Node
from graphfix.ir.importing import paused_collector
from graphfix.ir.model import Model
from graphfix.ir.schemas import form_of, newest_opset
from graphfix.ir.views import NodeView
from graphfix.report import Finding, NodeRef, Severity
from graphfix.validity.complaints import Complaint

ENGINE_HOOK = "engine-hook"


def check_node(
    node: NodeView, target: Target, assumed: Collection[tuple[str, str]] = (), index: int = -1
) -> list[Finding]:
    """Return what the target's rules say of one node.

    Args:
        node: The node.
        target: The target.
        assumed: (domain, operator) pairs that the user says the engine has.
        index: The position of the node in its graph, for the report.
    """
    if (node.domain, node.op) in assumed or ("", node.op) in assumed:
        return [
            Finding(
                rule="assumed-operator",
                feature=f"op:{node.op}",
                severity=Severity.NOTE,
                node=node.ref(index),
                message=f"{node.op} is taken to be there, as --assume-op says",
            )
        ]
    return _check(rules_for(target), node, target, index)


def _hook_findings(
    faults: Iterable[tuple[str, Failed]],
    target: Target,
    severity: Severity,
    node: NodeView | None = None,
    index: int = -1,
) -> Iterator[Finding]:
    """Yield what is to be said of hooks of an engine that raised."""
    for hook, answer in faults:
        yield Finding(
            rule=ENGINE_HOOK,
            feature="model:not-judged",
            severity=severity,
            node=node.ref(index) if node is not None else NodeRef(),
            message=f"what {target.title} reads differently here is not known: {hook} failed"
            f" ({answer.fault}), a fault of graphfix",
            certain=False,
            missing=answer.missing,
            source="graphfix",
            fault=answer.fault,
        )


def _check(rules: RuleSet, node: NodeView, target: Target, index: int) -> list[Finding]:
    findings: list[Finding] = []
    try:
        if engine_of(target.family).computes_early(node):
            return []
    except Exception as error:  # whatever a fault of ours raises
        # Rules judge the node then, as if the engine computed nothing early: no finding is lost.
        fault = ("computes_early", failed("computes_early", error))
        findings.extend(_hook_findings([fault], target, Severity.NOTE, node, index))
    for known in rules.of(node.domain, node.op):
        try:
            answer: Answer = known.check(node, target)
        except Exception as error:  # whatever a fault of ours raises
            answer = answer_instead(known.id, error)
        if answer is not None and answer is not False:
            finding = judged(known, answer, node, index)
            if finding is not None:
                findings.append(finding)
    return _left_over(findings, node, target, index) if target.fallback else findings


def _left_over(found: list[Finding], node: NodeView, target: Target, index: int) -> list[Finding]:
    """Return what is said of a node where another engine runs what the target lacks.

    Where that one refuses the node as well, only its words count.
    """
    if not any(finding.severity is Severity.REJECT for finding in found):
        return found
    after = load_target(target.fallback)
    refused = [f for f in _check(rules_for(after), node, after, index) if f.blocks]
    return refused or [_not_refused(finding, after) for finding in found]


def _not_refused(finding: Finding, after: Target) -> Finding:
    if finding.severity is not Severity.REJECT:
        return finding
    message = f"{finding.message.rstrip('.')}: {after.title} runs the node on the CPU instead"
    return replace(finding, severity=Severity.FALLBACK, message=message)


def judged(known: Rule, answer: Answer, node: NodeView | None, index: int = -1) -> Finding | None:
    if answer is None or answer is False:
        return None
    certain, missing, message, text = True, "", known.message, known.text
    feature, severity = known.feature, known.severity
    fault = ""
    if isinstance(answer, Unknown):
        certain, missing = False, answer.missing
        if isinstance(answer, Failed):
            fault = answer.fault
            message = f"{message.rstrip('.')}: not known here, for {FAILED} ({fault}), a fault of"
            message += " graphfix"
    elif isinstance(answer, str):
        message = answer
    elif isinstance(answer, Yes):
        message, text = answer.message or message, answer.text or text
        feature, severity = answer.feature or feature, answer.severity or severity
        node = answer.node or node
    op = node.op if node is not None else ""
    return Finding(
        rule=known.id,
        feature=feature.replace("{op}", op),
        severity=severity,
        node=node.ref(index) if node is not None else NodeRef(),
        message=_with_library(filled(message, node), feature, node),
        engine_text=filled(text, node),
        certain=certain,
        missing=missing,
        source=known.source,
        fault=fault,
    )


def _with_library(message: str, feature: str, node: NodeView | None) -> str:
    """Say which library writes an operator that the engine lacks, where that is known."""
    if node is None or feature.partition(":")[0] not in ("op", "domain"):
        return message
    if not node.domain and form_of(node.op, newest_opset()) is not None:
        return message
    from graphfix.engines.reported_findings import library_of

    known = library_of(node.domain, node.op)
    return message if known is None else f"{message.rstrip('.')}; {known.sentence}"


_OPEN = re.compile(r"\{[a-z_]+\}")


def filled(text: str, node: NodeView | None) -> str:
    """Return a text of a rule with what is known of a node put in; what is not becomes dots.

    A rule that cannot judge does not know the element type that the engine would name either.
    """
    if "{" not in text:
        return text
    if node is not None:
        form = form_of(node.op, node.opset or 1, node.domain)
        since = form.since if form is not None else node.opset
        text = text.replace("{op}", node.op).replace("{name}", node.name)
        text = text.replace("{since}", str(since))
    return _OPEN.sub("...", text)


def check_model(
    model: Model,
    target: Target,
    assumed: Collection[tuple[str, str]] = (),
) -> tuple[Finding, ...]:
    """Return every finding of a model for a target, those about the model first.

    Args:
        model: The model; its types are inferred, and sizes that follow from computed ones added.
        target: The target.
        assumed: (domain, operator) pairs that the user says the engine has.
    """
    return with_consequences(model, target, assumed, check_alone(model, target, assumed).findings)


class Checked(Struct, frozen=True):
    """What the rules say of a model as it is; valid until the model is edited.

    Attributes:
        findings: What they found, without what fails only because something else is misread.
        refused: The ids of the nodes that were found something of.
        graphs: The ids of the graphs whose nodes were looked at.
    """

    findings: tuple[Finding, ...]
    refused: frozenset[int]
    graphs: frozenset[int]

    def is_clean(self, node: Node) -> bool:
        """Say whether a node was looked at, and nothing was found."""
        return id(node) not in self.refused and id(node.graph) in self.graphs


@paused_collector()
def check_alone(model: Model, target: Target, assumed: Collection[tuple[str, str]] = ()) -> Checked:
    """Ask the rules about a model; arguments as for `check_model`."""
    infer_computed_sizes(model)
    faults: list[tuple[str, Failed]] = []
    graphs = frozenset(map(id, _graphs(model, target, faults)))
    whole = (*_hook_findings(faults, target, Severity.NOTE), *check_whole(model, target))
    refused = list(check_nodes(model, target, assumed))
    return Checked(
        (*whole, *(each for _, several in refused for each in several)),
        frozenset(id(view.node) for view, _ in refused),
        graphs,
    )


def with_consequences(
    model: Model,
    target: Target,
    assumed: Collection[tuple[str, str]],
    findings: tuple[Finding, ...],
) -> tuple[Finding, ...]:
    """Return findings, and those of what fails only because something else is misread.

    Args:
        model: The model.
        target: The target.
        assumed: As for `check_model`.
        findings: What `check_alone` found.
    """
    engine, found = engine_of(target.family), list(findings)
    faults: list[tuple[str, Failed]] = []

    def misread() -> list[Finding]:
        read = engine.as_read(model, target, found)
        if read is None:
            return []
        infer_model(read.model)
        return read.refused(check_nodes(read.model, target, assumed), found)

    found += hook_result(misread, [], "as_read", faults)
    found += _hook_findings(faults, target, Severity.WRONG)
    elsewhere: list[tuple[str, Failed]] = []
    known = tuple(found)
    found += hook_result(
        lambda: list(engine.reported_elsewhere(model, target, known)),
        [],
        "reported_elsewhere",
        elsewhere,
    )
    # It only adds at which other node the engine names what was found.
    return (*found, *_hook_findings(elsewhere, target, Severity.NOTE))


def check_whole(model: Model, target: Target) -> Iterator[Finding]:
    """Return the findings about the model itself."""
    for known in rules_for(target).whole:
        answers = answer_of(known.check, known.id, model, target)
        several = isinstance(answers, Sequence) and not isinstance(answers, str)
        for answer in cast("Iterable[Answer]", answers if several else [answers]):
            finding = judged(known, answer, None)
            if finding is not None:
                yield finding


def check_nodes(
    model: Model, target: Target, assumed: Collection[tuple[str, str]] = ()
) -> Iterator[tuple[NodeView, list[Finding]]]:
    """Walk the nodes that have findings, in every scope that the target reads.

    The body of a local function is left out for a target that reads no functions: it refuses the
    call, and what else blocks it shows once the function is inlined.
    """
    rules = rules_for(target)
    for graph in _graphs(model, target, []):
        for index, node in enumerate(graph.nodes):
            view = NodeView(node)
            found = (
                check_node(view, target, assumed, index)
                if assumed
                else _check(rules, view, target, index)
            )
            if found:
                yield view, found


def _graphs(model: Model, target: Target, faults: list[tuple[str, Failed]]) -> Iterator[Graph]:
    """Walk the scopes that a target reads."""
    engine = engine_of(target.family)
    for root in model.roots() if target.functions else (model.graph,):
        yield from read_graphs(engine, root, faults)


def file_findings(complaints: Iterable[Complaint], target: Target | None) -> tuple[Finding, ...]:
    """Return what is wrong with a file as findings.

    Args:
        complaints: What is wrong with it.
        target: The engine that is to read it; None for any.
    """
    return tuple(_of_file(each, target) for each in complaints)


# What may be wrong where inference says something of types: it may stop before any node.
OF_TYPES = frozenset({"model:type-contradiction", "model:output-type-declared"})


def features_of(complaints: Iterable[Complaint]) -> frozenset[str]:
    """Return what blocks every engine of what is wrong with a file, as features."""
    return frozenset(each.feature for each in file_findings(complaints, None) if each.blocks)


def _of_file(complaint: Complaint, target: Target | None) -> Finding:
    known = file_rules()[complaint.kind]
    ids = {known.id} if complaint.node is None else {known.id, f"{known.id}:{complaint.node.op}"}
    tolerated = target is not None and not ids.isdisjoint(engine_of(target.family).tolerates)
    return Finding(
        rule=known.id,
        feature=(complaint.feature or known.feature).replace(
            "{op}", complaint.node.op if complaint.node else ""
        ),
        severity=Severity.NOTE if tolerated else known.severity,
        node=complaint.node.ref() if complaint.node is not None else NodeRef(),
        message=complaint.message,
        engine_text=complaint.text,
        source=known.source,
    )
