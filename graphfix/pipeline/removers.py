"""Saying of each finding which passes remove it, and what of the user's options keeps them away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphfix.authoring.declaring import INTERFACE, NAMED, TARGETED, Pass
from graphfix.authoring.editing import Editor
from graphfix.authoring.registry import Catalogue
from graphfix.authoring.spared_nodes import Spared
from graphfix.ir.model import Model
from graphfix.pipeline.legaliser import Legaliser
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.sweep import Journal
from graphfix.report import (
    APPROXIMATE,
    EXACT,
    LOSSY,
    MENDED,
    Finding,
    NodeRef,
    Outcome,
    Severity,
    Status,
)

Opsets = dict[str, "int | None"]
Named = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]

ALLOW_LOSSY = "--allow-lossy"
ALLOW_MENDED = "--allow-mended"
ALLOW_IO_CHANGE = "--allow-io-change"
_RANK = {EXACT: 0, APPROXIMATE: 1, LOSSY: 2, MENDED: 3}
_OF_ANOTHER_NODE = frozenset({"misread-form", "reported-here"})


def opsets_of(model: Model) -> Opsets:
    """Return the opset of the default domain by scope; None where it is not imported."""
    return {graph.scope: graph.opsets.get("") for graph in model.graphs()}


def with_removers(
    findings: Iterable[Finding], settings: Settings, opsets: Opsets
) -> tuple[Finding, ...]:
    """Fill in ``removed_by`` and ``needs``: computed from what passes declare, exact ones first.

    Args:
        findings: What was found.
        settings: Which passes there are, and what the user has consented to.
        opsets: The opset of the default domain by scope, as `opsets_of` gives it.
    """
    available = Catalogue.of(settings.available)
    known: dict[tuple[object, ...], Named] = {}
    result: list[Finding] = []
    for finding in findings:
        node = finding.node
        opset = opsets.get(node.scope, opsets.get("main"))
        elsewhere = finding.rule in _OF_ANOTHER_NODE
        key = (finding.feature, node.domain, node.op, opset, elsewhere)
        if key not in known:
            able = removing(available, finding, opset)
            able = [p for p in able if not p.last_resort] or able
            able = [p for p in able if p.accuracy is not MENDED] or able
            able.sort(key=lambda p: (_RANK[p.accuracy], p.id))
            wants = [(p.id, " and ".join(consents_wanting(p, settings))) for p in able]
            needed = tuple(want for want in wants if want[1])
            known[key] = (tuple(p.id for p in able), needed)
        by, needs = known[key]
        same = (by, needs) == (finding.removed_by, finding.needs)
        result.append(finding if same else replace(finding, removed_by=by, needs=needs))
    return tuple(result)


def removing(passes: Catalogue, finding: Finding, opset: int | None) -> list[Pass]:
    """Return those of some passes that remove a finding; the opset is that of its scope."""
    return [p for p in passes.removing(finding.feature) if can_remove(p, finding, opset)]


def can_remove(declared: Pass, finding: Finding, opset: int | None) -> bool:
    """Say whether a pass declares the feature of a finding and may act where it is.

    A rewrite acts at the nodes that it matches. Where a finding is about its own node, that node
    has to be one of them, in domain and opset too, unless the pass declares to remove what another
    operator shows, as the one that replaces the reader of a sequence removes its maker. Where it
    is about a node before it or inside of it, what the feature names has to be.

    Args:
        declared: The pass.
        finding: What was found.
        opset: Of the default domain, where the finding is; None where it is not imported.
    """
    if not declared.removes_feature(finding.feature):
        return False
    if declared.kind != "rewrite" or not finding.node.op:
        return True
    domain, op = _subject(finding.feature)
    of_this_node = finding.rule not in _OF_ANOTHER_NODE
    if of_this_node and all(name not in ("*", finding.node.op) for _, name in declared.matches):
        return op == finding.node.op
    if of_this_node:
        domain, op = finding.node.domain, finding.node.op
    domains = {known for known, name in declared.matches if name in ("*", op)}
    if domains and not {"*", domain} & domains and domain != "*":
        return False
    return not domains or opset is None or _reads(declared, opset)


def passes_removing(
    passes: Catalogue, rule: str, feature: str, op: str = "", domain: str = "*"
) -> tuple[Pass, ...]:
    """Return the passes that remove what a rule finds, where there is no model to look at.

    Args:
        passes: Those that there are.
        rule: The id of the rule.
        feature: What it finds, the operator filled in.
        op: The operator; empty where that is not known.
        domain: Its domain; ``*`` where that is not known.
    """
    finding = Finding(rule, feature, Severity.REJECT, NodeRef(op=op, domain=domain), "")
    return tuple(removing(passes, finding, None))


def _subject(feature: str) -> tuple[str, str]:
    """Return domain and operator that a feature names; `aten` stands for several domains."""
    domain, _, name = feature.partition(":")[2].rpartition("::")
    return ("*" if domain == "aten" else domain), name.partition(".")[0]


def _reads(declared: Pass, opset: int) -> bool:
    return declared.is_for(opset)


def consents_wanting(declared: Pass, settings: Settings) -> tuple[str, ...]:
    """Return the options by which the user lets a pass act, of those that were not given.

    A pass that runs only when it is named wants that as well.
    """
    wanting: list[str] = []
    unnamed = settings.named is None or all(p.id != declared.id for p in settings.named)
    if declared.stage == NAMED and unnamed and declared.changes_io:
        wanting.append(f"--passes {declared.id}")
    if declared.changes_io and not settings.allow_io_change:
        wanting.append(ALLOW_IO_CHANGE)
    if declared.accuracy is LOSSY and not settings.allow_lossy:
        wanting.append(ALLOW_LOSSY)
    if declared.accuracy is MENDED and not settings.allow_mended:
        wanting.append(ALLOW_MENDED)
    return tuple(wanting)


def with_actors(
    findings: Iterable[Finding], after: Iterable[Finding], outcomes: Iterable[Outcome]
) -> tuple[Finding, ...]:
    """Name what took a node away, for findings that are gone and that no pass declares to remove.

    A step of the opset writes an operator out that the older one does not have, whatever it is.

    Args:
        findings: Those of the model as it came, with what passes declare.
        after: Those of the result.
        outcomes: What was done.
    """
    left = {(f.feature, f.node.scope, f.node.outputs) for f in after}
    acted: dict[tuple[str, str, tuple[str, ...]], dict[str, None]] = {}
    for outcome in outcomes:
        if outcome.status is not Status.APPLIED:
            continue
        for node in (node for site in outcome.sites for node in site.removed):
            place = (node.op, node.scope, node.outputs)
            acted.setdefault(place, {})[outcome.pass_id] = None
    found: list[Finding] = []
    for finding in findings:
        node = finding.node
        by = acted.get((node.op, node.scope, node.outputs))
        gone = (finding.feature, node.scope, node.outputs) not in left
        named = by and gone and node.outputs and not finding.removed_by
        found.append(replace(finding, removed_by=tuple(by)) if by and named else finding)
    return tuple(found)


LOSSY_UNASKED = f"lossy, and needs {ALLOW_LOSSY}"


def consent_wanting(declared: Pass, settings: Settings) -> str:
    """Say which consent of the user a graph pass needs and has not; empty where none is."""
    options = consents_wanting(declared, settings)
    # What is mended is shown, so that the user can judge how it was read.
    needs = [o for o in options if o.startswith("--allow-") and o != ALLOW_MENDED]
    return f"needs {' and '.join(needs)}" if needs else ""


def note_unconsented(
    findings: Sequence[Finding], settings: Settings, legaliser: Legaliser, journal: Journal
) -> None:
    """Note the passes that were not tried at findings which are left, for want of consent.

    A graph pass is named where it declares to remove a finding. A rewrite is drafted aside first:
    where it refuses, that is its reason, and no consent would help.

    Args:
        findings: What is left.
        settings: What was asked for.
        legaliser: With consent to lossy trees, on the model as it is now.
        journal: Where the refusals go.
    """
    opsets = opsets_of(legaliser.workspace.model)
    stages = (INTERFACE,) if settings.named is not None else (INTERFACE, TARGETED)
    for declared in settings.available:
        if declared.stage not in stages or declared.kind != "graph":
            continue
        reason = consent_wanting(declared, settings)
        if not reason:
            continue
        for finding in findings:
            if (finding.blocks or declared.stage == INTERFACE) and can_remove(
                declared, finding, opsets.get(finding.node.scope)
            ):
                journal.refused(declared.id, reason, finding.node)
    if settings.named is None and not settings.allow_lossy:
        _draft_lossy(findings, settings, legaliser, journal, opsets)


def _draft_lossy(
    findings: Sequence[Finding],
    settings: Settings,
    legaliser: Legaliser,
    journal: Journal,
    opsets: dict[str, int | None],
) -> None:
    lossy = [
        p
        for p in settings.available
        if p.kind == "rewrite" and p.stage == TARGETED and p.accuracy is LOSSY
    ]
    wanted: dict[tuple[str, tuple[str, ...]], NodeRef] = {}
    for finding in findings:
        opset = opsets.get(finding.node.scope)
        if finding.blocks and any(can_remove(p, finding, opset) for p in lossy):
            wanted[(finding.node.scope, finding.node.outputs)] = finding.node
    if not wanted:
        return
    names = {declared.id for declared in lossy}
    editor = Editor(legaliser.workspace.model, legaliser.workspace, {}, EXACT)
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            ref = view.ref()
            node = wanted.get((ref.scope, ref.outputs))
            if node is None:
                continue
            tree = legaliser.solve(view, legaliser.blocking(view))
            if tree is not None and tree.accuracy is LOSSY:
                journal.refused(tree.passes[0], LOSSY_UNASKED, node)
            for rejection in legaliser.rejections if tree is None else ():
                if rejection.pass_id in names and rejection.bug is None:
                    journal.refused(rejection.pass_id, rejection.reason, node)
    editor.finish()


_ALONE = {"--except": "left alone by --except", "--only": "left alone, as --only does not name it"}


def with_withheld(
    findings: Iterable[Finding], settings: Settings, opsets: Opsets, spared: Spared | None
) -> tuple[Finding, ...]:
    """Fill in ``withheld`` of the findings that block.

    Args:
        findings: What is left, with what removes it.
        settings: What the user asked for, before anything was left out by the run itself.
        opsets: The opset of the default domain by scope.
        spared: The nodes that --except and --only leave alone; None for none.
    """
    skipped = Catalogue.of(settings.left_out)
    named = None if settings.named is None else {declared.id for declared in settings.named}

    def text(finding: Finding) -> str:
        option = spared.option(finding.node) if spared is not None and finding.node.op else ""
        if option:
            return _ALONE[option]
        opset = opsets.get(finding.node.scope, opsets.get("main"))
        left = [declared.id for declared in removing(skipped, finding, opset)]
        said = [_listed(left, "left out by --skip")] if left else []
        others = [n for n in finding.removed_by if named is not None and n not in named]
        said += [_listed(others, "not among --passes")] if others else []
        return "; ".join(said)

    return tuple(replace(f, withheld=text(f)) if f.blocks else f for f in findings)


def _listed(names: list[str], why: str) -> str:
    shown = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'} {why}"
