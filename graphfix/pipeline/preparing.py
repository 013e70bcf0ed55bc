"""First stages of a run: what the checker complains of, and what inputs and outputs may become."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.authoring.declaring import INTERFACE, PREPARE, Pass
from graphfix.checking import check_whole
from graphfix.pipeline.consenting import consent_wanting
from graphfix.pipeline.fingerprints import Fingerprints
from graphfix.pipeline.mending import is_tolerated, mend_nodes, mends_nodes
from graphfix.pipeline.run import Run
from graphfix.pipeline.sweeping import (
    first_of,
)


def prepare(run: Run) -> None:
    """Mend what the checker complains of, and keep the model as it is then."""
    passes = run.passes.staged(PREPARE, "graph")
    target = run.settings.target
    wanted = [
        each
        for each in passes
        if not is_tolerated(each, target) and not consent_wanting(each, run.settings)
    ]
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
    _mend_with(run, [declared for declared in run.passes if mends_nodes(declared)])


def mend_operators(run: Run) -> None:
    """Run those for operators that are no longer there, whatever the opset is to be."""
    passes = [declared for declared in run.passes if mends_nodes(declared)]
    _mend_with(run, [declared for declared in passes if declared.stage != PREPARE])


def _mend_with(run: Run, passes: Sequence[Pass]) -> None:
    if mend_nodes(run.model, run.work, passes, run.settings, run.journal):
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
