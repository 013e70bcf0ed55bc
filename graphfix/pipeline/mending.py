"""Rewriting nodes that a file may not have at its opset, where the engine that is meant minds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphfix.authoring.declaring import Pass
from graphfix.authoring.views import NodeView
from graphfix.authoring.workspace import Workspace
from graphfix.checking import file_findings
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import file_rules
from graphfix.inference import type_of
from graphfix.model import Model
from graphfix.pipeline.journal import Journal
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.sweeping import sweep_rewrite
from graphfix.validity.element_types import element_type_complaints
from graphfix.validity.forms import fits, form_at, form_complaints


def mend_nodes(
    model: Model,
    workspace: Workspace,
    passes: Sequence[Pass],
    settings: Settings,
    journal: Journal,
) -> int:
    """Apply rewrites to nodes whose operator or types their opset does not have; return how many.

    Args:
        model: The model; its types are inferred.
        workspace: Its names.
        passes: The rewrites.
        settings: What was asked for; a target that only notes such a type needs no rewrite.
        journal: Where sites and refusals go.
    """
    return sum(
        sweep_rewrite(
            model,
            workspace,
            declared,
            settings.options,
            journal,
            _wanted(declared, settings.target),
        )
        for declared in passes
    )


def mends_nodes(declared: Pass) -> bool:
    """Say whether a rewrite acts at nodes that a file may not have, whichever engine reads it."""
    mended = any(removed.startswith("model:") for removed in declared.removes)
    return declared.kind == "rewrite" and mended


def is_tolerated(declared: Pass, target: Target | None) -> bool:
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
