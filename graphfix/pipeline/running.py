"""The flow of a run: prepare, infer, canonicalise, legalise, step the opset down, look again.

Its first stages are here: what the checker complains of, and what inputs and outputs may become.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from graphfix.analysis.inference import form_at, type_of
from graphfix.authoring.declaring import INTERFACE, PREPARE, Pass
from graphfix.engines.checking import check_whole, file_findings
from graphfix.engines.engine import engine_of
from graphfix.engines.known_rules import file_rules
from graphfix.engines.profile import Target
from graphfix.engines.reported_findings import as_reported
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.pipeline.binding import bind_shapes
from graphfix.pipeline.model_types import drop_outdated, resolve_made_up
from graphfix.pipeline.op_types import check_op_types
from graphfix.pipeline.original import Fingerprints
from graphfix.pipeline.removers import consent_wanting, note_unconsented, opsets_of
from graphfix.pipeline.repair_stages import (
    apply_lossy,
    canonicalise,
    convert,
    finish,
    keep_integers,
    legalise,
    run_named,
    step_down,
    step_up,
)
from graphfix.pipeline.rule_faults import rule_faults
from graphfix.pipeline.run import Run
from graphfix.pipeline.sweep import first_of
from graphfix.pipeline.validation import interface
from graphfix.report import MENDED, Finding, Placement
from graphfix.validity.complaints import element_type_complaints, fits, form_complaints

if TYPE_CHECKING:
    from graphfix.analysis.integer_products import Products

_DECLARED = "model:output-type-declared"
_OF_BYTES = re.compile("Dequantize|Integer|QLinear|QGemm|DynamicQuantize")


def prepare(run: Run) -> None:
    """Mend what the checker complains of, and keep the model as it is then."""
    passes = run.passes.staged(PREPARE, "graph")
    target = run.settings.target
    wanted = [
        each
        for each in passes
        if not _is_tolerated(each, target) and not consent_wanting(each, run.settings)
    ]
    # What is read comes after what needs no reading, and before a type is declared for good.
    wanted.sort(key=_turn)
    said = tuple(check_whole(run.model, target)) if target is not None else ()
    prints = Fingerprints(run.model)
    acted: list[Pass] = []
    plain = [declared for declared in wanted if not _turn(declared)]
    acted += [declared for declared in plain if run.graph_pass(declared, prints)]
    if acted:  # what one mended may have hidden something from those before it
        again = [declared for declared in plain if declared not in acted]
        run.journal.forget_refusals({declared.id for declared in again})
        acted += [declared for declared in again if run.graph_pass(declared, prints)]
    for declared in wanted[len(plain) :]:
        faults = run.faults(changed=bool(acted)) if declared.accuracy is MENDED else None
        if faults is not None and not any(map(declared.removes_feature, faults)):
            continue
        if run.graph_pass(declared, prints):
            acted.append(declared)
    run.mended = tuple(
        f for f in said if f.certain and any(p.removes_feature(f.feature) for p in acted)
    )
    if acted:
        run.prepared = run.model.to_proto()


def mend(run: Run) -> None:
    """Run the rewrites of nodes that the file may not have at its opset."""
    _mend_with(run, run.passes.menders)


def mend_operators(run: Run) -> None:
    """Run those for operators that are no longer there, whatever the opset is to be."""
    passes = [p for p in run.passes.menders if p.stage != PREPARE]
    _mend_with(run, passes)


def _mend_with(run: Run, passes: Sequence[Pass]) -> None:
    target = run.settings.target
    if sum(run.rewrite(declared, _wanted(declared, target)) for declared in passes):
        run.infer()


def change_interface(run: Run) -> int:
    """Run the passes that change inputs or outputs, where that was consented to."""
    if not run.settings.allow_io_change:
        return 0
    changed = 0
    passes = run.passes.staged(INTERFACE, "graph")
    run.journal.forget_refusals({declared.id for declared in passes})
    for declared in passes:
        if not consent_wanting(declared, run.settings) and first_of(run.blocking(), declared):
            changed += run.graph_pass(declared)
            run.infer()
    run.expect_changes()
    return changed


def _turn(declared: Pass) -> int:
    """Say when a pass has its turn: what needs no reading, readings, outputs."""
    of_outputs = declared.removes_feature(_DECLARED)
    return 2 * of_outputs + (declared.accuracy is MENDED)


def _is_tolerated(declared: Pass, target: Target | None) -> bool:
    """Say whether all that a pass mends of a file is only noted for a target."""
    rules = _mended_rules(declared)
    if target is None or not rules:
        return False
    return all(rule in engine_of(target.family).tolerates for rule in rules)


@lru_cache(maxsize=1024)
def _mended_rules(declared: Pass) -> tuple[str, ...]:
    """Return the ids of the rules about the file alone of which a pass removes what they find."""
    rules = file_rules().values()
    return tuple(rule.id for rule in rules if declared.removes_feature(rule.feature))


def _wanted(declared: Pass, target: Target | None) -> Callable[[NodeView], bool]:
    def wanted(view: NodeView) -> bool:
        form = form_at(view.node)
        if form is None:
            return False
        if fits(view.node, view.opset):
            complaints = element_type_complaints(view.node, form, type_of)
        else:
            complaints = form_complaints(view.node, form)
        found = file_findings(complaints, target)
        return any(each.blocks and declared.removes_feature(each.feature) for each in found)

    return wanted


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
            if run.settings.allow_lossy:
                run.timed("lossy", keep_integers)
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
        if run.settings.target is not None:
            run.timed("last", finish)
    _expect_corrections(run)
    run.timed("check", _look_after)


def _infer_first(run: Run) -> None:
    drop_outdated(run.model)
    resolve_made_up(run.model)
    run.infer()
    if run.settings.op_types:
        check_op_types(run.model, run.settings.op_types)


def _look_before(run: Run) -> None:
    found = as_reported(run.model, run.findings())
    run.placed_before = placed(run.model, run.settings.target, found)
    _note_faults(run, found)
    # The repair made first blocked it, too.
    run.findings_before = (*(f for f in run.mended if f not in found), *found)
    run.opsets_before = opsets_of(run.model)
    run.products = _products(run)


def _look_after(run: Run) -> None:
    run.findings_after = as_reported(run.model, run.findings())
    run.placed_after = placed(run.model, run.settings.target, run.findings_after)
    _note_faults(run, run.findings_after)
    if run.findings_after:
        aside = run.legaliser(lossy=True)
        aside.decisions = None
        note_unconsented(run.findings_after, run.settings, aside, run.journal)
    was = run.products
    now = _products(run, always=True) if was is not None and was.places else None
    if was is not None and now is not None and now.places < was.places:
        from graphfix.report.costs import IntegerPlaces

        share = None if not was.work or now.work is None else now.work / was.work
        run.integers = IntegerPlaces(was.places, now.places, share)


def _products(run: Run, *, always: bool = False) -> Products | None:
    """Return the products in 8 bits; None at once where the model is of floats."""
    if not always and not any(_OF_BYTES.search(node.op) for node in run.model.nodes()):
        return None
    from graphfix.analysis.integer_products import integer_products

    return integer_products(run.model)


def placed(model: Model, target: Target | None, found: Sequence[Finding]) -> Placement | None:
    """Return where the nodes of a model run; None where the target is no provider."""
    if target is None or not engine_of(target.family).shared:
        return None
    from graphfix.engines.placement import placement_of

    return placement_of(model, target, found)


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
