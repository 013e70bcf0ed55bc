"""The flow of a run: prepare, infer, canonicalise, legalise, step the opset down, look again."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.engines.reported_findings import as_reported
from graphfix.pipeline.binding import bind_shapes
from graphfix.pipeline.consent import note_unconsented
from graphfix.pipeline.first_stages import change_interface, mend, mend_operators, prepare
from graphfix.pipeline.model_types import drop_outdated
from graphfix.pipeline.op_types import check_op_types
from graphfix.pipeline.opset_stages import convert, step_down, step_up
from graphfix.pipeline.removers import opsets_of
from graphfix.pipeline.repair_stages import apply_lossy, canonicalise, legalise, run_named
from graphfix.pipeline.rule_faults import rule_faults
from graphfix.pipeline.run import Run
from graphfix.pipeline.validation import interface
from graphfix.report import Finding


def execute(run: Run) -> None:
    """Run all stages.

    Raises:
        InvalidModel: The graph has a cycle, or external data cannot be read.
        UsageError: A shape or a type that the user gives does not fit the model.
        PassBug: A graph pass edited outside its sites.
    """
    if run.settings.shapes:
        run.io_changes = bind_shapes(run.model, run.settings.shapes)
    run.expected_interface = interface(run.model)
    if run.settings.named is not None:
        run.timed("infer", _infer_first)
        _look_before(run)
        run.timed("passes", run_named)
    else:
        run.timed("prepare", prepare)
        run.timed("infer", _infer_first)
        _look_before(run)
        if run.settings.target is not None:
            run.timed("prepare", mend)
            run.timed("interface", change_interface)
            run.timed("canonicalise", canonicalise)
            # What is folded by now may be what a pass was missing.
            if change_interface(run):
                run.timed("canonicalise", canonicalise)
            run.timed("opset", step_up)
            run.timed("legalise", legalise)
            run.timed("prepare", mend)  # what was in functions has types by now
        if run.settings.opset is not None:
            run.timed("prepare", mend_operators)
            run.timed("opset", convert)
            run.timed("prepare", mend)  # at a newer opset there may be nothing to mend
        elif run.settings.target is not None:
            run.timed("opset", step_down)
            if run.settings.allow_lossy:
                run.timed("lossy", apply_lossy)
    _expect_corrections(run)
    run.timed("check", _look_after)


def _infer_first(run: Run) -> None:
    drop_outdated(run.model)
    run.infer()
    if run.settings.op_types:
        check_op_types(run.model, run.settings.op_types)


def _look_before(run: Run) -> None:
    found = as_reported(run.model, run.findings())
    _note_faults(run, found)
    # The repair made first blocked it, too.
    run.findings_before = (*(f for f in run.mended if f not in found), *found)
    run.opsets_before = opsets_of(run.model)


def _look_after(run: Run) -> None:
    run.findings_after = as_reported(run.model, run.findings())
    _note_faults(run, run.findings_after)
    if run.findings_after:
        aside = run.legaliser(lossy=True)
        aside.decisions = None
        note_unconsented(run.findings_after, run.settings, aside, run.journal)


def _note_faults(run: Run, found: Sequence[Finding]) -> None:
    """Note the rules that raised, for reproducers."""
    if any(finding.fault for finding in found):
        run.rule_faults += rule_faults(run.model, found, run.settings)


def _expect_corrections(run: Run) -> None:
    """Expect of an output the shape that a pass proved, where another one was declared."""
    corrected = [c for c in run.journal.io_changes if c not in run.io_changes]
    names = {change.name for change in corrected}
    for key, text in interface(run.model).items():
        if key.split(" ", 2)[0] == "output" and key.split(" ", 2)[2] in names:
            run.expected_interface[key] = text
    run.io_changes = (*run.io_changes, *corrected)
