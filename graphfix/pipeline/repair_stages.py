"""The stages that edit: one form for all, rewrites, the opset, lossy ones by consent, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from graphfix.authoring.declaring import CANONICAL, INTEGERS, LAST, TARGETED, Pass
from graphfix.authoring.editing import Recorded
from graphfix.ir.model import Model
from graphfix.ir.schemas import first_opset, form_of, newest_opset
from graphfix.ir.views import NodeView
from graphfix.opset.adapting import adapters
from graphfix.opset.formats import needed_ir
from graphfix.opset.stepping import OPSET, Blocker, StepBlocked, lower_one, move_to
from graphfix.pipeline.model_types import resolve_made_up
from graphfix.pipeline.original import Fingerprints
from graphfix.pipeline.removers import consent_wanting
from graphfix.pipeline.run import Run
from graphfix.pipeline.sweep import Journal, first_of
from graphfix.report import EXACT, LOSSY, Finding, NodeRef, Site, blocking_by_severity

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


def keep_integers(run: Run) -> None:
    """Let products stay in int8 at a loss that was consented to, before others write floats.

    Patterns among the passes write floats themselves, for any target that needs them.
    """
    passes = run.passes.staged(INTEGERS, "rewrite")
    blocking = run.blocking()
    plain = [p for p in passes if p.pattern is not None and first_of(blocking, p)]
    if plain and run.patterns(plain, lambda _: None, allow_lossy=True):
        run.infer()
        canonicalise(run)
    target = run.settings.target
    if target is None or not target.integers:
        return
    passes = tuple(p for p in passes if p.pattern is None)
    for _ in range(ROUNDS):
        moved = 0
        run.journal.forget_refusals({declared.id for declared in passes})
        for declared in passes:
            moved += run.rewrite(declared, _wanted(run, declared), allow_lossy=True)
            run.infer()
        if not moved:
            return
        canonicalise(run)


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


def finish(run: Run) -> None:
    """Run the passes that come after all others, once."""
    run.before_last = run.findings()
    for declared in run.passes.staged(LAST, "graph"):
        run.graph_pass(declared)


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
        if moved + rewritten:
            changed = True
        elif not changed or not resolve_made_up(run.model):
            break  # else sizes that inference could not tell apart by then are the same now
        run.infer()
    return changed


OLDEST_OPSET = 7  # engines and the adapters know nothing older
LOOK_AHEAD = 4
FOLDING = ("fold-constants", "dead-code")


def convert(run: Run) -> None:
    """Move the model to the opset asked for, or name the nodes that block it."""
    wanted = run.settings.opset
    assert wanted is not None
    before = run.model.opset
    if not _may_step(run):
        return
    try:
        moved = _moved(run, wanted)
    except StepBlocked as blocked:
        for blocker in blocked.blockers:
            run.journal.refused(OPSET, blocker.reason, blocker.node)
        return
    for each in moved:
        run.journal.apply([OPSET], each)
    if wanted < before:
        _lower_ir(run)
    run.infer()


def _lower_ir(run: Run) -> None:
    """Lower the IR version with the opset: who reads no newer opset reads no newer file."""
    older, needed = run.model.ir_version, needed_ir(run.model)
    if needed < older:
        run.model.ir_version = needed
        site = Site(NodeRef(), EXACT, note=f"IR version {older} becomes {needed}")
        run.journal.apply([OPSET], Recorded(site, computes=False))


def _may_step(run: Run) -> bool:
    """Say whether the opset may move: not where the user skips it or its result was wrong."""
    return not run.budget.exhausted and OPSET in run.passes.by_id


def _moved(run: Run, wanted: int) -> list[Recorded]:
    """Move to an opset; what is computed is folded only where a constant is asked for."""
    try:
        return move_to(run.model, run.work, wanted, at_run_time=False)
    except StepBlocked as blocked:
        if run.budget.outgrown:
            raise
        folding = [d for d in run.passes.staged(CANONICAL, "graph") if d.id in FOLDING]
        folded = [run.graph_pass(declared) for declared in folding]
        if not any(folded) and not blocked.late:
            raise  # the same again
        run.infer()
        return move_to(run.model, run.work, wanted)


def step_up(run: Run) -> None:
    """Raise the opset to the oldest that the target takes, where anything blocks it below it.

    What passes write has to say below opset 7 that it is broadcast, which engines do not read.
    """
    target = run.settings.target
    assert target is not None
    floor = max(target.opset_min or OLDEST_OPSET, OLDEST_OPSET)
    if not 0 < run.model.opset < floor or not _may_step(run):
        return
    blocking = run.blocking()
    if not blocking:
        return
    try:
        moved = _moved(run, floor)
    except StepBlocked as blocked:
        if any(finding.feature == "opset:too-low" for finding in blocking):
            for blocker in blocked.blockers:
                run.journal.refused(OPSET, blocker.reason, blocker.node)
        return
    for each in moved:
        run.journal.apply([OPSET], each)
    run.infer()
    canonicalise(run)


def step_down(run: Run) -> None:
    """Lower the opset one step at a time while that removes what blocks it.

    An engine that reads any number but misreads newer forms is given the highest opset that
    leaves no finding; one that rejects the number itself gets what it takes.
    """
    target = run.settings.target
    assert target is not None
    if not _may_step(run) or run.budget.outgrown:
        return
    floor = max(target.opset_min or OLDEST_OPSET, OLDEST_OPSET)
    wanted = max(target.opset_max, floor)
    if run.model.opset > wanted and any(_by_opset(f) for f in run.blocking()):
        steps = run.model.opset - wanted
        helped = _descend(run, wanted, steps)
        if not helped and any(_came_after(wanted, f) for f in run.blocking()):
            # What stands for a newer operator may be of a form that the engine misreads.
            _descend(run, floor, steps + LOOK_AHEAD)
    while run.model.opset > floor and (steps := _steps_down(run)):
        # Further down than the engine asks for; a few steps may be needed before the form
        # that it reads is reached.
        if not _descend(run, floor, steps):
            break
    while run.model.opset > floor and any(_is_form(f) and f.keeps_off for f in run.kept_off()):
        if not _descend(run, floor, LOOK_AHEAD, Run.kept_off):
            return


def _steps_down(run: Run) -> int:
    """Return how many steps further down something that blocks may be gone; 0 for none.

    A repair may need a node that only a lower opset writes as the engine reads it.
    """
    blocking, out = run.blocking(), _steps_out(run)
    if any(_may_go_lower(run, finding) for finding in blocking):
        return max(LOOK_AHEAD, *map(out, blocking))
    return max(map(out, run.hindering), default=0) if blocking else 0


def _may_go_lower(run: Run, finding: Finding) -> bool:
    """Say whether opsets lower the form may be another, or the operator written out."""
    late = _came_after(run.model.opset - LOOK_AHEAD, finding)
    return late or _is_form(finding) or bool(_steps_out(run)(finding))


def _steps_out(run: Run) -> Callable[[Finding], int]:
    """Return how many steps down an operator or its form is written out; 0 where none does it."""

    def steps(finding: Finding) -> int:
        kind, _, what = finding.feature.partition(":")
        since = what.partition(".")[2]
        if kind == "form" and since.isdecimal():  # of an opset, which the one before it has not
            return max(0, run.model.opset - int(since) + 1)
        if kind == "form" and since.endswith("-input"):
            return _steps_to_an_attribute(what.partition(".")[0], run.model.opset)
        first = first_opset(what) if kind == "op" else 0
        return max(0, run.model.opset - first + 1) if _is_written_out(what, first) else 0

    return steps


def _steps_to_an_attribute(op: str, opset: int) -> int:
    """Return how many steps down the last input is none: it was an attribute before; else 0."""
    form = here = form_of(op, opset)
    while form is not None:
        below = form.schema.since_version - 1
        form = form_of(op, below) if below > 0 else None
        if form is not None and len(form.schema.inputs) < len(here.schema.inputs if here else ()):
            return opset - below
    return 0


def _is_written_out(op: str, first: int) -> bool:
    """Say whether an operator that came with an opset has a body, or an adapter of the step."""
    form = form_of(op, first) if first > 1 else None
    if form is None:
        return False
    schema: Any = form.schema  # the stubs of onnx leave out what says whether there is a body
    has_body = bool(schema.has_function or schema.has_context_dependent_function)
    return has_body or (op, first, first - 1) in adapters()


def _descend(
    run: Run, floor: int, steps: int, findings: Callable[[Run], list[Finding]] = Run.blocking
) -> bool:
    """Step down and stay at the highest opset that leaves least; say whether that is lower."""
    start: Model = run.model
    here = findings(run)
    limits = blocking_by_severity(here) | blocking_by_severity(run.findings_before)
    best: tuple[_Left, Model, Journal] = (_left(here), start, run.journal)
    blockers: tuple[Blocker, ...] = ()
    run.model, run.journal = start.copy(), run.journal.copy()
    run.infer()
    for _ in range(steps):
        if run.model.opset <= floor:
            break
        blockers = _one_step_down(run)
        if blockers:
            break
        left = findings(run)
        # Fewer findings in all are no gain where those of one severity become more.
        if _left(left) < best[0] and (best[0][0] or blocking_by_severity(left) <= limits):
            last = run.model.opset <= floor or not any(_by_opset(f) for f in left)
            kept = run.model if last else run.model.copy()
            best = (_left(left), kept, run.journal.copy())
            if last:
                break
    _, run.model, run.journal = best
    run.infer()
    for blocker in blockers:
        run.journal.refused(OPSET, blocker.reason, blocker.node)
    return run.model is not start


def _one_step_down(run: Run) -> tuple[Blocker, ...]:
    try:
        moved = lower_one(run.model, run.work)
    except StepBlocked as blocked:
        return tuple(blocked.blockers)
    for each in moved:
        run.journal.apply([OPSET], each)
    run.infer()
    canonicalise(run)
    legalise(run)
    return ()


_Left = tuple[bool, int]


def _left(blocking: Sequence[Finding]) -> _Left:
    """Return what is compared between two opsets: one that is refused hides all the rest."""
    return (any(f.feature == "opset:too-high" for f in blocking), len(blocking))


def _by_opset(finding: Finding) -> bool:
    kind = finding.feature.partition(":")[0]
    return kind in ("form", "opset", "op", "attr", "const", "shape")


def _is_form(finding: Finding) -> bool:
    return finding.feature.startswith("form:")


def _came_after(opset: int, finding: Finding) -> bool:
    kind, _, op = finding.feature.partition(":")
    if kind != "op" or form_of(op, newest_opset()) is None:
        return False  # of another domain, or of none that ONNX knows
    return form_of(op, max(opset, 1)) is None
