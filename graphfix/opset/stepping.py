"""The chain of opset steps: plan every node, then apply all or none."""

from __future__ import annotations

from msgspec import Struct

from graphfix.analysis.inference import infer_model
from graphfix.authoring.editing import Editor, Recorded
from graphfix.authoring.workspace import Workspace
from graphfix.errors import GraphfixError, PassBug
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.schemas import newest_opset
from graphfix.ir.views import NodeView, Refuse
from graphfix.opset.planning import MAX_DEPTH, Plan, Planner, apply_edits
from graphfix.opset.snapshot import Snapshot
from graphfix.report import EXACT, NodeRef

OPSET = "opset"
DIFFERS = "the form of the other opset computes something else here"


class Blocker(Struct, frozen=True):
    """A node that cannot follow a step, and why."""

    node: NodeRef
    reason: str


class StepBlocked(Exception):  # noqa: N818 - an answer, not an error
    """Raised when an opset cannot be reached; the model is as it was.

    Attributes:
        version: The opset that could not be reached.
        blockers: Every node that blocks the step, all at once.
        late: Whether anything was refused because it is computed at run time.
    """

    def __init__(self, version: int, blockers: list[Blocker], *, late: bool = False) -> None:
        """Name the opset that could not be reached and all that blocks it."""
        super().__init__(f"opset {version} cannot be reached: {len(blockers)} nodes block it")
        self.version = version
        self.blockers = blockers
        self.late = late


def lower_one(model: Model, workspace: Workspace) -> list[Recorded]:
    """Lower the opset by one, in every graph and function.

    The types of the model must have been inferred. Functions with a lower opset are left, those
    with a higher one go as far down as the main graph.

    Raises:
        StepBlocked: Some nodes cannot follow.
    """
    return move_to(model, workspace, model.opset - 1)


def move_to(
    model: Model,
    workspace: Workspace,
    version: int,
    *,
    at_run_time: bool = True,
    adopting: bool = False,
) -> list[Recorded]:
    """Move to an opset, one step at a time, all the way or not at all.

    The types of the model must have been inferred.

    Args:
        model: The model, edited in place.
        workspace: Its names.
        version: The opset of the default domain to end with.
        at_run_time: Whether what has to become an attribute, and is computed at run time, may be
            replaced by a longer expression.
        adopting: Whether an operator that the opset lacks is taken for the one that a newer one
            brings; otherwise it blocks it.

    Returns:
        One site for each node that was changed, and one for each number; none where the model
        has the opset already. A model that imports no default domain does so then: no node is of
        it, so nothing else changes.

    Raises:
        StepBlocked: Some nodes cannot follow, or onnx knows no such opset; nothing is changed.
    """
    if not 1 <= version <= newest_opset():
        raise StepBlocked(version, [Blocker(NodeRef(), f"onnx knows no opset {version}")])
    if model.opset > newest_opset():
        reason = f"the installed onnx knows no opset {model.opset}"
        raise StepBlocked(version, [Blocker(NodeRef(), reason)])
    before = Snapshot.of(model, workspace)
    sites: list[Recorded] = []
    try:
        if not model.opset:
            sites += _import(model, workspace, version)
        if version <= model.opset:
            while (highest := max(_versions(model))) > version:
                sites += _step(model, workspace, highest, highest - 1, at_run_time)
        else:
            while (lowest := min(_versions(model))) < version:
                sites += _step(model, workspace, lowest, lowest + 1, at_run_time, adopting)
    except BaseException:
        before.restore()
        raise
    return sites


def _import(model: Model, workspace: Workspace, version: int) -> list[Recorded]:
    editor = Editor(model, workspace, {}, EXACT)
    model.graph.set_opset("", version)
    editor.record_number(NodeRef(), f"ai.onnx {version} is imported")
    return editor.recorded


def _versions(model: Model) -> list[int]:
    return [root.opsets[""] for root in model.roots() if root.opsets.get("")]


def _step(
    model: Model,
    workspace: Workspace,
    source: int,
    target: int,
    at_run_time: bool,
    adopting: bool = False,
) -> list[Recorded]:
    """Move the main graph and the functions that be at `source` to `target`.

    What has subgraphs, or needs them, is put into the graph in the form of the source first, so
    that the nodes of these subgraphs are planned like any others.
    """
    roots = [root for root in model.roots() if root.opsets.get("") == source]
    planner = Planner(workspace, target, {f.key for f in model.functions}, at_run_time, adopting)
    plans = _plan(roots, planner, target)
    sites: list[Recorded] = []
    rounds = 0
    while first := [plan for plan in plans if plan.again]:
        rounds += 1
        if rounds > MAX_DEPTH:
            reason = f"function bodies nest deeper than {MAX_DEPTH}"
            raise StepBlocked(target, [_blocker(NodeView(p.node), reason) for p in first])
        sites += _apply(Editor(model, workspace, {}, EXACT), first, source)
        infer_model(model)
        plans = _plan(roots, planner, target)
    editor = Editor(model, workspace, {}, EXACT)
    _apply(editor, plans, target)
    for root in roots:
        root.set_opset("", target)
    editor.record_number(NodeRef(), f"opset {source} becomes {target}")
    return sites + editor.recorded


def _apply(editor: Editor, plans: list[Plan], version: int) -> list[Recorded]:
    for plan in plans:
        node = plan.node
        if plan.draft is None:
            _edit_in_place(editor, plan, version)
        elif node.outputs:  # a constant goes with its last consumer, before its own turn
            editor.apply(plan.draft, plan.accuracy, plan.note, version=version)
    editor.finish()
    return editor.recorded


def _edit_in_place(editor: Editor, plan: Plan, target: int) -> None:
    node = plan.node
    evidence = editor.witness(NodeView(node))
    apply_edits(node, plan.edits)
    if evidence is not None:
        for tensor in node.outputs:
            if tensor.name:
                evidence.replace(tensor, tensor)
        evidence.finish([node], target)
    editor.record(NodeView(node).ref(), evidence=evidence)


def _blocker(view: NodeView, reason: str) -> Blocker:
    """Return what blocks a step, at the node of the file that it came from."""
    origin = view.node.origin
    if origin is None:
        return Blocker(view.ref(), reason)
    became = f"{view.op}, which it becomes on the way: " if view.op != origin.op else ""
    return Blocker(origin, f"{became}{reason}")


def _plan(roots: list[Graph], planner: Planner, target: int) -> list[Plan]:
    plans: list[Plan] = []
    blockers: list[Blocker] = []
    workspace = planner.workspace
    now = workspace.count  # with what is planned, until it is there
    for root in roots:
        for graph in root.walk():
            for node in graph.nodes:
                view = NodeView(node)
                if workspace.blocks(OPSET, view.ref()):
                    blockers.append(_blocker(view, DIFFERS))
                    continue
                try:
                    plan = planner.plan(view, root.opsets)
                except Refuse as refusal:
                    blockers.append(_blocker(view, refusal.reason))
                    continue
                except PassBug as bug:
                    blockers.append(_blocker(view, f"a fault of the step: {bug}"))
                    continue
                except GraphfixError:
                    raise
                except Exception as error:  # whatever an adapter raises is its fault, named here
                    said = f"a fault of the step: {type(error).__name__}: {error}"
                    blockers.append(_blocker(view, said))
                    continue
                if plan.edits or plan.draft is not None:
                    plans.append(plan)
                    workspace.count += len(plan.draft.nodes) if plan.draft is not None else 0
    workspace.count = now
    if blockers:
        raise StepBlocked(target, blockers, late=planner.precedents.late)
    return plans
