"""Saying which passes would act on what is left, had the user consented to it."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.authoring.declaring import INTERFACE, TARGETED, Pass
from graphfix.authoring.editing import Editor
from graphfix.pipeline.journal import Journal
from graphfix.pipeline.legaliser import Legaliser
from graphfix.pipeline.removers import (
    ALLOW_LOSSY,
    ALLOW_MENDED,
    can_remove,
    consents_wanting,
    opsets_of,
)
from graphfix.pipeline.settings import Settings
from graphfix.report import EXACT, LOSSY, Finding, NodeRef

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
        reason = consent_wanting(declared, settings)
        if not reason or declared.stage not in stages or declared.kind != "graph":
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
