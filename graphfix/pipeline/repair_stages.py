"""The stages that edit: one form for all, rewrites, lossy ones by consent, passes by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby

from graphfix.authoring.declaring import CANONICAL, TARGETED, Pass
from graphfix.ir.views import NodeView
from graphfix.pipeline.consent import consent_wanting
from graphfix.pipeline.fingerprints import Fingerprints
from graphfix.pipeline.run import Run
from graphfix.pipeline.sweep import first_of
from graphfix.report import LOSSY, NodeRef

FUNCTION = "scope:local-function"
ROUNDS = 12


def legalise(run: Run) -> None:
    """Remove findings by what is not lossy, until nothing moves."""
    again = {declared.id for declared in run.passes if declared.stage == TARGETED}
    for round_ in range(ROUNDS):
        run.journal.forget_refusals(again)
        moved = _run_graph_passes(run)
        if moved:
            run.infer()
            canonicalise(run)
        if round_ == 0:
            run.plain_nodes = run.model.node_count()
        moved += run.sweep()
        moved = moved or _run_graph_passes(run, last_resort=True)
        if run.leavable:
            moved = moved or run.sweep(leaving=True)
        if not moved and not _inline_what_is_left(run):
            break
        run.infer()
        canonicalise(run)


def _run_graph_passes(run: Run, *, last_resort: bool = False) -> int:
    """Run the graph passes for what is found, of last resort or not; return how many sites."""
    moved = 0
    blocking = run.blocking()
    for declared in run.passes.staged(TARGETED, "graph"):
        if declared.last_resort != last_resort or declared.accuracy is LOSSY:
            continue
        if first_of(blocking, declared):
            sites = run.graph_pass(declared)
            if sites:
                moved += sites
                blocking = run.blocking()
    return moved


def _inline_what_is_left(run: Run) -> bool:
    """Inline local functions that the target reads, where findings are left inside of them.

    In the places that call it, types and constants are known that a function lacks.
    """
    if not run.model.functions or not any(
        finding.node.scope.startswith("function:") for finding in run.blocking()
    ):
        return False
    inliners = [p for p in run.passes.staged(TARGETED, "graph") if p.removes_feature(FUNCTION)]
    return any(run.graph_pass(declared) for declared in inliners)


def apply_lossy(run: Run) -> None:
    """Remove what is left by lossy passes, which were consented to, and what that makes plain."""
    moved = 0
    for declared in run.passes.staged(TARGETED, "graph"):
        wanted = declared.accuracy is LOSSY and first_of(run.blocking(), declared)
        if wanted and (sites := run.graph_pass(declared)):
            moved += sites
            run.infer()
            canonicalise(run)
    if moved and run.blocking():
        legalise(run)
    if run.sweep(lossy=True):
        run.infer()
        canonicalise(run)


def run_named(run: Run) -> None:
    """Run exactly the passes that were named, in their order."""
    named = run.settings.named or ()
    for has_pattern, several in groupby(named, lambda declared: declared.pattern is not None):
        if has_pattern:
            run.patterns(
                tuple(several),
                partial(_wanted, run),
                allow_lossy=run.settings.allow_lossy,
            )
        else:
            for declared in several:
                _run_one(run, declared)


def _run_one(run: Run, declared: Pass) -> None:
    if declared.kind == "graph":
        # To name a pass is no consent, as for the sites of a rewrite.
        if reason := consent_wanting(declared, run.settings):
            run.journal.refused(declared.id, reason, NodeRef())
        elif run.graph_pass(declared) and declared.changes_io:
            run.infer()
            run.expect_changes()
    else:
        run.rewrite(declared, _wanted(run, declared), allow_lossy=run.settings.allow_lossy)
    run.journal.not_needed(declared.id, *_of_other_opsets(run, declared))


def _of_other_opsets(run: Run, declared: Pass) -> tuple[str, NodeRef | None]:
    """Say where a pass would have acted if the model were of another opset."""
    opset, until = run.model.opset, declared.until
    if declared.kind == "graph" or declared.is_for(opset):
        return "", None
    for node in run.model.nodes():
        view = NodeView(node)
        if declared.matches_node(view, any_opset=True):
            span = (
                f"opsets {declared.since or 1} to {until}"
                if until
                else f"opset {declared.since} on"
            )
            return f"it is for {span}; the model is of opset {opset}", view.ref()
    return "", None


def _wanted(run: Run, declared: Pass) -> Callable[[NodeView], bool] | None:
    """Return which nodes a named pass is for: those with a finding, where a target is given."""
    if run.settings.target is None:
        return None
    legaliser = run.legaliser()
    return lambda view: first_of(legaliser.blocking(view), declared)


def canonicalise(run: Run) -> bool:
    """Run the canonical passes until none does anything; say whether one did."""
    changed = False
    prints = Fingerprints(run.model)
    for _ in range(ROUNDS):
        moved = 0
        for declared in run.passes.staged(CANONICAL, "graph"):
            moved += run.graph_pass(declared, prints)
        rewritten = 0
        for declared in run.passes.staged(CANONICAL, "rewrite"):
            rewritten += run.rewrite(declared)
        if rewritten:
            prints = Fingerprints(run.model)
        if not moved + rewritten:
            break
        changed = True
        run.infer()
    return changed
