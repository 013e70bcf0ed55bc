"""Put the branch that is taken in the place of an If.

What it does: Where the condition of an If is known without running the model, the nodes of the
    branch that it chooses come to be where the If was; the other branch goes. The measure that
    it lowers is the number of If nodes.
Why engines need it: TensorRT before 8.0 takes no condition that is computed, and 8.x no branches of
    different shapes; exporters write an If around Squeeze that has nothing to decide once shapes
    are known.
Before:
    c = constant {true}
    y = If (c) <then_branch = {t = Relu (x)}, else_branch = {e = Neg (x)}>
After: y = Relu (x)
When it refuses: It leaves alone an If whose condition is computed. Refused are branches with
    initializers where these cannot be (local functions, IR 3), and a branch whose type or shape
    is not the one that the If declares.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__If.html onnx/onnx-tensorrt 8.6
    builtin_op_importers.cpp:2103-2158
"""

from graphfix.analysis.folding.known_values import Knowledge, know
from graphfix.authoring import CANONICAL, Editor, Graph, NodeView, graph_pass

from ._branches import counted_names, inline, misfit


@graph_pass(
    stage=CANONICAL,
    removes="op:If const:If.cond shape:If.branches form:If.*",
    emits="*::*",
    looks_at=["If"],
)
def if_elimination(editor: Editor) -> None:
    """Look at every If; inner ones of a branch that stays have their turn as well."""
    views = [v for g in editor.graphs() for v in editor.nodes(g, "If") if not v.domain]
    if not views:
        return
    knowledge = know(editor.model)
    names = counted_names(editor)
    for view in views:  # outer ones first: inner ones move with the branch or go with it
        branch = _taken(view, knowledge)
        if branch is None:
            continue
        reason = misfit(editor, view, branch)
        if reason:
            editor.refuse(view, reason)
        else:
            inline(editor, view, branch, names)


def _taken(view: NodeView, knowledge: Knowledge) -> Graph | None:
    condition = knowledge.full(view.input(0))
    if condition is None or condition.size != 1:
        return None
    wanted = "then_branch" if bool(condition.reshape(())) else "else_branch"
    return dict(view.node.graphs()).get(wanted)
