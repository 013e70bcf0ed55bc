"""One sweep over the nodes of every scope, for all passes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphfix.authoring.declaring import Pass
from graphfix.authoring.drafting import draft_rewrite
from graphfix.authoring.editing import Editor
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView
from graphfix.authoring.workspace import Workspace
from graphfix.errors import GraphfixError, PassBug
from graphfix.graph import Constant, Graph, Node, Shape, Tensor
from graphfix.model import Model
from graphfix.pipeline.journal import Journal
from graphfix.pipeline.legalising import Legaliser
from graphfix.report import EXACT, LOSSY, Finding, NodeRef

Options = Mapping[str, Mapping[str, Any]]


def sweep_targeted(model: Model, legaliser: Legaliser, journal: Journal) -> int:
    """Rewrite every node that has a finding which some pass removes; return how many."""
    editor = Editor(model, legaliser.workspace, {}, EXACT)
    changed = 0
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            findings = legaliser.blocking(view)
            if not findings:
                continue
            tree = legaliser.solve(view, findings)
            if tree is None:
                _note_rejections(legaliser, view, journal)
                continue
            try:
                editor.apply(tree.draft, tree.accuracy, "; ".join(tree.notes))
            except PassBug as bug:
                journal.failed(tree.passes[0], str(bug), view)
                continue
            changed += 1
            for pass_id in dict.fromkeys(tree.passes):
                journal.applied(pass_id, editor.recorded[-1].site)
    editor.finish()
    return changed


def _note_rejections(legaliser: Legaliser, view: NodeView, journal: Journal) -> None:
    for rejection in legaliser.rejections:
        if rejection.bug is not None:
            journal.failed(rejection.pass_id, rejection.reason, view)
        else:
            journal.refused(rejection.pass_id, rejection.reason, view.ref())


def sweep_rewrite(
    model: Model,
    workspace: Workspace,
    declared: Pass,
    options: Options,
    journal: Journal,
    wanted: Callable[[NodeView], bool] | None = None,
    *,
    allow_lossy: bool = False,
) -> int:
    """Apply one rewrite on every node it matches; return how many changed.

    Args:
        model: The model.
        workspace: Its names.
        declared: The pass.
        options: Options by pass.
        journal: Where sites and refusals go.
        wanted: Which of the matching nodes; None for all.
        allow_lossy: Whether lossy sites were consented to; naming a pass is no consent.
    """
    editor = Editor(model, workspace, {}, declared.accuracy)
    changed = 0
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if not declared.matches_node(view) or (wanted is not None and not wanted(view)):
                continue
            if workspace.blocks(declared.id, view.ref()):
                continue
            try:
                drafted = draft_rewrite(declared, view, workspace, options.get(declared.id))
                if drafted.accuracy is LOSSY and not allow_lossy:
                    raise Refuse("lossy, and needs --allow-lossy")
                editor.apply(drafted.draft, drafted.accuracy, drafted.note)
            except Refuse as refusal:
                journal.refused(declared.id, refusal.reason, view.ref())
            except PassBug as bug:
                journal.failed(declared.id, str(bug), view)
            else:
                changed += 1
                journal.applied(declared.id, editor.recorded[-1].site)
    editor.finish()
    return changed


Types = tuple[tuple[int, Shape | None], ...]
Prints = dict[int, tuple[Node | Graph | Constant, tuple[object, ...], Types]]


def run_graph_pass(
    model: Model,
    workspace: Workspace,
    declared: Pass,
    options: Options,
    journal: Journal,
    prints: Prints | None = None,
) -> int:
    """Run a graph pass; return how many sites it recorded.

    An edit outside a recorded site is a fault of the pass, and so is a tensor that stays and has
    another dtype or shape afterwards, or one that is less known. Where a pass raises half-way, the
    sites that it finished are whole and stay.

    Args:
        model: The model.
        workspace: Its names.
        declared: The pass.
        options: Options by pass.
        journal: Where sites and refusals go.
        prints: What `fingerprint` gives now, where the caller knows; brought up to date.
    """
    given = {**declared.default_options(), **options.get(declared.id, {})}
    editor = Editor(model, workspace, given, declared.accuracy, declared.id)
    before = prints if prints is not None else fingerprint(model)
    failure = ""
    try:
        declared.function(editor)
    except Refuse as refusal:
        journal.refused(declared.id, refusal.reason, NodeRef())
    except GraphfixError:
        raise
    except PassBug as bug:
        failure = str(bug)
    except Exception as error:  # whatever a pass raises is its fault, named below
        failure = f"{type(error).__name__}: {error}"
    editor.finish()
    after = fingerprint(model)
    stray = _stray(before, after, editor)
    if stray is not None:
        what = f"{stray.op} {stray.name!r}" if isinstance(stray, Node) else repr(stray.name)
        raise PassBug(
            f"pass {declared.id} changed {what} outside a recorded site", pass_id=declared.id
        )
    if prints is not None:
        prints.clear()
        prints.update(after)
    for recorded in editor.recorded:
        journal.applied(declared.id, recorded.site)
    journal.io_changes.extend(editor.io_changes)
    for refused in editor.refused:
        journal.refused(declared.id, refused.reason, refused.node)
    if failure:
        journal.failed(declared.id, failure, editor.current)
    return len(editor.recorded)


def fingerprint(model: Model) -> Prints:
    """Return what each node, interface and weight is, so that edits can be told afterwards."""
    prints: Prints = {}
    for graph in model.graphs():
        ends = (*graph.inputs, None, *graph.outputs)
        names = (t.name if t is not None else None for t in ends)
        prints[id(graph)] = (graph, (*map(id, ends), *names), ())
        for constant in graph.initializers:
            prints[id(constant)] = (constant, (constant.name, constant.weights), ())
        for node in graph.nodes:
            prints[id(node)] = (node, _print(node), _types(node.outputs))
    return prints


def _print(node: Node) -> tuple[object, ...]:
    return (
        node.op,
        node.domain,
        *map(id, node.inputs),
        None,
        *map(id, node.outputs),
        *(sorted(node.attrs) if node.attrs.replaced() else ()),
    )


def _types(tensors: Sequence[Tensor]) -> Types:
    return tuple((t.elem_type, t.shape) for t in tensors)


def _worse(known: Types, now: Types) -> bool:
    """Say whether something that was known of tensors is another thing now, or forgotten."""
    if known == now or len(known) != len(now):
        return False
    for (old, old_shape), (new, new_shape) in zip(known, now, strict=True):
        if old and new != old:
            return True
        if old_shape is None:
            continue
        if new_shape is None or len(new_shape) != len(old_shape):
            return True
        if any(isinstance(a, int) and a != b for a, b in zip(old_shape, new_shape, strict=True)):
            return True
    return False


def _stray(before: Prints, after: Prints, editor: Editor) -> Node | Graph | Constant | None:
    if any(recorded.edit is None for recorded in editor.recorded):
        return None  # the pass recorded a change of the whole file, such as inlining
    allowed: set[int] = set()
    for recorded in editor.recorded:
        if recorded.edit is not None:
            for group in (recorded.edit.added, recorded.edit.removed, recorded.edit.touched):
                allowed.update(map(id, group))
            for node in recorded.edit.added:
                for _, body in node.graphs():  # what came in a new body came with its node
                    allowed.update(id(inner) for graph in body.walk() for inner in graph.nodes)
    rebuilt = {id(recorded.edit.graph) for recorded in editor.recorded if recorded.edit is not None}
    for key, (thing, printed, types) in after.items():
        known = before.get(key)
        if isinstance(thing, Node):
            if (known is None or known[1] != printed) and key not in allowed:
                return thing
            if known is not None and _worse(known[2], types):
                return thing
        elif known is not None and known[1] != printed and key not in rebuilt:
            # What is new came with a site; a body may give out another tensor at one.
            return thing
    return None


def first_of(findings: Sequence[Finding], declared: Pass) -> bool:
    """Say whether a pass removes the feature of one of the findings."""
    return any(declared.removes_feature(f.feature) for f in findings)
