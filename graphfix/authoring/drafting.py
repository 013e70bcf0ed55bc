"""Running a rewrite aside: its nodes are built, checked, and not yet in the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from graphfix.analysis.inference import merge_type, type_of
from graphfix.authoring.accounting import AccountedNode, check_read
from graphfix.authoring.applying import Draft, all_nodes, check_draft
from graphfix.authoring.building import Builder, returned_values
from graphfix.authoring.declaring import Pass, check_emitted
from graphfix.authoring.workspace import Workspace
from graphfix.errors import GraphfixError, PassBug
from graphfix.ir.graph import Node, Shape, Tensor, Variable, is_empty
from graphfix.ir.schemas import form_of
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.report import Accuracy


class Drafted(Struct):
    """A draft with the label of its site."""

    draft: Draft
    accuracy: Accuracy
    note: str


def draft_rewrite(
    declared: Pass, view: NodeView, workspace: Workspace, options: Mapping[str, Any] | None = None
) -> Drafted:
    """Run a rewrite on one node without touching the graph.

    Raises:
        Unmatched: Its pattern is not what is here.
        Refuse: The pass will not touch this node.
        PassBug: The pass raised something else, or broke its declaration.
    """
    version = workspace.version_to_import("")
    if "" not in view.graph.opsets and version < declared.since:
        raise Refuse(
            f"it needs opset {declared.since}, and {version} is the newest that can be imported"
        )
    match = None if declared.pattern is None else declared.pattern.match(view)
    mark = workspace.mark()
    build = Builder(workspace, view, {**declared.default_options(), **(options or {})})
    further: Sequence[Node] = ()
    try:
        accounted = AccountedNode(view.node)
        result = declared.function(accounted if match is None else match, build)
        results: Sequence[Value | None] = returned_values(result, declared.id)
        check_emitted(declared, [(n.domain or "", n.op) for n in all_nodes(build.nodes)])
        if match is not None:
            results, further = match.aligned(results), match.roots[1:]
        shapes = _shapes(declared, view, results)
        draft = drafted(view, build, results, f"pass {declared.id}", shapes, further)
        if match is None:
            check_read(accounted)
    except (Refuse, PassBug, GraphfixError):
        workspace.release(mark)
        raise
    except Exception as error:
        workspace.release(mark)
        raise PassBug(
            f"pass {declared.id} raised {type(error).__name__}: {error}", pass_id=declared.id
        ) from error
    return Drafted(draft, build.accuracy or declared.accuracy, build.note)


def _shapes(
    declared: Pass, view: NodeView, results: Sequence[Value | None]
) -> Sequence[Shape | None]:
    """Return the shapes that a pass knows of the outputs of an operator without schema.

    They are those of what it writes, unless it says them itself.
    """
    if form_of(view.op, view.opset or 1, view.domain) is not None:
        return []
    try:
        known = None if declared.infer is None else declared.infer(view)
    except Refuse:
        return []
    if known is None and declared.derives_types:
        return [None if value is None else value.shape for value in results]
    return [None if one is None else one.shape for one in known or ()]


def drafted(
    view: NodeView,
    build: Builder,
    results: Sequence[Value | None],
    by: str,
    shapes: Sequence[Shape | None] = (),
    further: Sequence[Node] = (),
) -> Draft:
    """Return what was built for a node, without what no result needs, checked.

    Args:
        view: The node.
        build: What it was built with.
        results: What stands for its outputs.
        by: Who built it, as messages say it.
        shapes: The shapes that the outputs are known to have, whatever the file declares.
        further: Nodes that are replaced with it; `results` continue with what stands for their
            outputs.

    Raises:
        PassBug: It is not valid, or does not fit in the place of the node; see `check_draft`.
    """
    draft = Draft(
        view.node,
        list(build.nodes),
        list(build.constants),
        list(results),
        shapes,
        further,
        list(build.explained),
    )
    prune(draft)
    _tell_readers(draft)
    check_draft(draft, build, by)
    return draft


def _tell_readers(draft: Draft) -> None:
    """Note what is read of what the draft computes.

    Drafted nodes are held without telling their tensors: a pass that is asked about one of them
    would take an output for unused, and leave it out, that another of them reads.
    """
    read = [tensor for node in all_nodes(draft.nodes) for tensor in node.inputs]
    for old, new in zip(draft.outputs, draft.results, strict=False):
        if new is not None and Value(old).is_used:
            read.append(new.tensor)
    for tensor in read:
        if isinstance(tensor, Variable) and tensor.draft is not None:
            tensor.drafted_reader = True


def prune(draft: Draft) -> Draft:
    """Drop drafted nodes that no result needs."""
    needed = {id(value.tensor) for value in draft.results if value is not None}
    kept: list[Node] = []
    for node in reversed(draft.nodes):
        if any(id(t) in needed for t in node.outputs):
            kept.append(node)
            needed.update(id(t) for n in all_nodes([node]) for t in n.inputs)
            for _, body in node.graphs():
                for inner in body.walk():
                    needed.update(id(t) for t in inner.outputs)
    kept.reverse()
    draft.nodes = kept
    return draft


def splice(draft: Draft, replaced: Node, inner: Draft) -> None:
    """Let the results of `inner` stand for the outputs of `replaced` in all of `draft`."""
    draft.constants.extend(inner.constants)
    draft.explained.extend(inner.explained)
    made = {id(t) for n in inner.nodes for t in n.outputs}
    swaps: dict[int, Tensor] = {}
    for old, new in zip(replaced.outputs, inner.results, strict=False):
        if is_empty(old) or new is None:
            continue
        fresh = new.tensor
        if id(fresh) in made and isinstance(old, Variable) and isinstance(fresh, Variable):
            # The name of the drafted output says less than that of the node that asked for it.
            known = type_of(old)
            if known is not None:
                merge_type(fresh, known)
        swaps[id(old)] = fresh
    for node in draft.nodes:
        _swap(node, swaps)
    draft.results = [
        Value(swaps.get(id(v.tensor), v.tensor)) if v is not None else None for v in draft.results
    ]


def _swap(node: Node, swaps: Mapping[int, Tensor]) -> None:
    if any(id(t) in swaps for t in node.inputs):
        node.inputs = [swaps.get(id(t), t) for t in node.inputs]
    for _, body in node.graphs():
        for inner in body.nodes:
            _swap(inner, swaps)
