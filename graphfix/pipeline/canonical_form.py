"""The stage that brings a model into one form, until nothing moves."""

from __future__ import annotations

from graphfix.authoring.declaring import CANONICAL
from graphfix.pipeline.fingerprints import Fingerprints
from graphfix.pipeline.run import Run

ROUNDS = 12


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
