"""First stages of a run: what the checker complains of, and what inputs and outputs may become."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphfix.analysis.inference import form_at, type_of
from graphfix.authoring.declaring import INTERFACE, PREPARE, Pass
from graphfix.engines.checking import check_whole, file_findings
from graphfix.engines.engine import engine_of
from graphfix.engines.known_rules import file_rules
from graphfix.engines.profile import Target
from graphfix.ir.views import NodeView
from graphfix.pipeline.consent import consent_wanting
from graphfix.pipeline.fingerprints import Fingerprints
from graphfix.pipeline.run import Run
from graphfix.pipeline.sweep import first_of
from graphfix.report import MENDED
from graphfix.validity.element_types import element_type_complaints
from graphfix.validity.forms import fits, form_complaints

_DECLARED = "model:output-type-declared"


def prepare(run: Run) -> None:
    """Mend what the checker complains of, and keep the model as it is then."""
    passes = run.passes.staged(PREPARE, "graph")
    target = run.settings.target
    wanted = [
        each
        for each in passes
        if not _is_tolerated(each, target)
        and not consent_wanting(each, run.settings)
        and (each.accuracy is not MENDED or any(map(each.removes_feature, run.faults)))
    ]
    # What is read comes after what needs no reading, and before a type is declared for good.
    wanted.sort(key=_turn)
    said = tuple(check_whole(run.model, target)) if target is not None else ()
    prints = Fingerprints(run.model)
    acted = [declared for declared in wanted if run.graph_pass(declared, prints)]
    run.mended = tuple(
        f for f in said if f.certain and any(p.removes_feature(f.feature) for p in acted)
    )
    if acted:
        run.prepared = run.model.to_proto()


def mend(run: Run) -> None:
    """Run the rewrites of nodes that the file may not have at its opset."""
    _mend_with(run, [declared for declared in run.passes if _mends_nodes(declared)])


def mend_operators(run: Run) -> None:
    """Run those for operators that are no longer there, whatever the opset is to be."""
    passes = [p for p in run.passes if _mends_nodes(p) and p.stage != PREPARE]
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


def _mends_nodes(declared: Pass) -> bool:
    """Say whether a rewrite acts at nodes that a file may not have, whichever engine reads it."""
    mended = any(removed.startswith("model:") for removed in declared.removes)
    return declared.kind == "rewrite" and mended


def _turn(declared: Pass) -> int:
    """Say when a pass has its turn: what needs no reading, readings, outputs."""
    of_outputs = declared.removes_feature(_DECLARED)
    return 2 * of_outputs + (declared.accuracy is MENDED)


def _is_tolerated(declared: Pass, target: Target | None) -> bool:
    """Say whether all that a pass mends of a file is only noted for a target."""
    rules = [rule for rule in file_rules().values() if declared.removes_feature(rule.feature)]
    if target is None or not rules:
        return False
    return all(rule.id in engine_of(target.family).tolerates for rule in rules)


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
