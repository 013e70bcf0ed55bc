"""What passes that run only when they are named find in a model, and what is there instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphfix.authoring.declaring import NAMED, Pass
from graphfix.authoring.drafting import draft_rewrite
from graphfix.authoring.patterns.match import Unmatched
from graphfix.authoring.workspace import Workspace
from graphfix.errors import PassBug
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Refuse
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.pattern_places import PatternPlaces
from graphfix.report import NodeRef
from graphfix.report.explanations import NamedPattern

# A place that has less of a pattern than this has nothing to do with it.
_LEAST_FOUND = 2


def named_patterns(model: Model, passes: Iterable[Pass]) -> tuple[NamedPattern, ...]:
    """Return what each pass with a pattern that runs only when it is named would do in a model.

    Those whose pattern is nowhere near what is in the model are left out. Nothing is changed
    but what is known of the types.

    Args:
        model: The model.
        passes: All that there are.
    """
    known = tuple(passes)
    wanted = [each for each in known if each.stage == NAMED and each.pattern is not None]
    infer_types(model, known)
    places, workspace = PatternPlaces(model, wanted), Workspace(model, passes=known)
    found = (_of_one(each, places, workspace) for each in wanted)
    return tuple(each for each in found if each.sites or each.refused or each.nearest)


def _of_one(declared: Pass, places: PatternPlaces, workspace: Workspace) -> NamedPattern:
    sites: list[NodeRef] = []
    refused: list[tuple[NodeRef, str]] = []
    nearest: tuple[int, NodeRef, str] | None = None
    for view in _views(places, declared):
        mark = workspace.mark()
        try:
            draft_rewrite(declared, view, workspace)
        except Unmatched as miss:
            if miss.depth >= _LEAST_FOUND and (nearest is None or miss.depth > nearest[0]):
                nearest = (miss.depth, view.ref(), miss.reason)
        except (Refuse, PassBug) as error:
            refused.append((view.ref(), str(error)))
        else:
            sites.append(view.ref())
        workspace.release(mark)
    pattern = NamedPattern(declared.id, tuple(sites), tuple(refused))
    if nearest is None or sites or refused:
        return pattern
    return replace(pattern, nearest=nearest[1], reason=nearest[2])


def _views(places: PatternPlaces, declared: Pass) -> Sequence[NodeView]:
    views = map(NodeView, places.take(declared))
    return [view for view in views if declared.matches_node(view)]
