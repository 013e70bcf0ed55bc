"""Asking the rules of a target about every node: what stands in the way, all at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView
from graphfix.graph import Node
from graphfix.inference import infer_model
from graphfix.model import Model
from graphfix.report import Finding, NodeRef, Severity
from graphfix.rules.as_parsed import as_parsed
from graphfix.rules.declaring import Answer, Rule, RuleSet, Yes, rules_for
from graphfix.targets.profiles import Target


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


def _check(rules: RuleSet, node: NodeView, target: Target, index: int) -> list[Finding]:
    findings: list[Finding] = []
    for known in rules.of(node.domain, node.op):
        finding = _ask(known, node, target, index)
        if finding is not None:
            findings.append(finding)
    return findings


def _ask(known: Rule, node: NodeView, target: Target, index: int) -> Finding | None:
    try:
        answer = cast(Answer, known.check(node, target))
    except Refuse as refusal:
        answer = Unknown(refusal.reason)
    return _finding(known, answer, node, index)


def _finding(known: Rule, answer: Answer, node: NodeView | None, index: int = -1) -> Finding | None:
    if answer is None or answer is False:
        return None
    certain, missing, message, text = True, "", known.message, known.text
    feature, severity = known.feature, known.severity
    if isinstance(answer, Unknown):
        certain, missing = False, answer.missing
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
        message=message.replace("{op}", op),
        engine_text=text.replace("{op}", op),
        certain=certain,
        missing=missing,
        source=known.source,
    )


def check_model(
    model: Model,
    target: Target,
    assumed: Collection[tuple[str, str]] = (),
    *,
    consequences: bool = True,
) -> tuple[Finding, ...]:
    """Return every finding of a model for a target, those about the model first.

    Args:
        model: The model; its types are inferred.
        target: The target.
        assumed: (domain, operator) pairs that the user says the engine has.
        consequences: Whether to look also for what fails only because something else is misread.
    """
    found = [
        *check_whole(model, target),
        *(each for _, several in check_nodes(model, target, assumed) for each in several),
    ]
    if not consequences:
        return tuple(found)
    return (*found, *check_misread(model, target, assumed, found))


# Forms whose misreading changes a shape, so that a later node may fail for it.
_RESHAPING = ("form:Shape.", "form:Reduce", "form:Constant.value_int")


def check_misread(
    model: Model, target: Target, assumed: Collection[tuple[str, str]], known: Sequence[Finding]
) -> Iterator[Finding]:
    """Yield what an engine that misreads forms refuses only because of that.

    The feature of each is that of the misread form: it goes away with it. `known` are the findings
    of the model as it is.
    """
    misread = {
        (found.node.scope, found.node.index): found
        for found in known
        if found.severity is Severity.WRONG
        and found.certain
        and found.feature.startswith(_RESHAPING)
    }
    if not misread:
        return
    read = as_parsed(model)
    if read is None:
        return
    parsed, complaint = read
    infer_model(parsed)
    before = {(f.node.scope, f.node.index, f.rule) for f in known}
    by_node = {
        id(node): misread[scope, index]
        for scope, graph in [(graph.scope, graph) for graph in parsed.graphs()]
        for index, node in enumerate(graph.nodes)
        if (scope, index) in misread
    }
    failing = False
    for view, several in check_nodes(parsed, target, assumed):
        for finding in several:
            key = (finding.node.scope, finding.node.index, finding.rule)
            if finding.severity is Severity.REJECT and finding.certain and key not in before:
                failing = True
                cause = _cause(view.node, by_node) or next(iter(misread.values()))
                yield replace(
                    finding,
                    rule="misread-form",
                    feature=cause.feature,
                    message=f"{finding.message}; the engine misreads {cause.node.op} before it",
                )
    if complaint and not failing:
        cause = next(iter(misread.values()))
        yield replace(
            cause,
            rule="misread-form",
            severity=Severity.REJECT,
            message=f"shapes do not fit any more once the engine has misread {cause.node.op}: "
            + complaint.replace("\n", " "),
        )


def _cause(node: Node, misread: Mapping[int, Finding]) -> Finding | None:
    """Return the misread form nearest before a node; `misread` goes by the identity of nodes."""
    front, seen = [node], {id(node)}
    for near in front:
        if id(near) in misread:
            return misread[id(near)]
        makers = [maker for tensor in near.inputs for maker in tensor.inputs]
        parent = near.graph.parent
        for maker in (*makers, *([parent] if parent is not None else [])):
            if id(maker) not in seen:
                seen.add(id(maker))
                front.append(maker)
    return None


def check_whole(model: Model, target: Target) -> Iterator[Finding]:
    """Return the findings about the model itself."""
    for known in rules_for(target).whole:
        answers = known.check(model, target)
        several = isinstance(answers, Sequence) and not isinstance(answers, str)
        for answer in cast("Iterable[Answer]", answers if several else [answers]):
            finding = _finding(known, answer, None)
            if finding is not None:
                yield finding


def check_nodes(
    model: Model, target: Target, assumed: Collection[tuple[str, str]] = ()
) -> Iterator[tuple[NodeView, list[Finding]]]:
    """Walk the nodes that have findings, in every scope that the target reads.

    The body of a local function is left out for a target that reads no functions: it refuses the
    call, and what else stands in the way shows once the function is inlined.
    """
    rules = rules_for(target)
    for root in model.roots() if target.functions else (model.graph,):
        for graph in root.walk():
            for index, node in enumerate(graph.nodes):
                view = NodeView(node)
                found = (
                    check_node(view, target, assumed, index)
                    if assumed
                    else _check(rules, view, target, index)
                )
                if found:
                    yield view, found
