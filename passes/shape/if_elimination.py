"""Put the branch that is taken in the place of an If.

What it does:
    Where the condition of an If is known without running the model, the nodes of the branch that
    it chooses come to stand where the If stood; the other branch goes. The measure that it lowers
    is the number of If nodes.

Why engines need it:
    TensorRT before 8.0 takes no condition that is computed, and 8.x no branches of different
    shapes; exporters write an If around Squeeze that has nothing to decide once shapes are known.

Before:
    c = constant {true}
    y = If (c) <then_branch = {t = Relu (x)}, else_branch = {e = Neg (x)}>

After:
    y = Relu (x)

When it refuses:
    It leaves alone an If whose condition is computed. Refused are branches with initializers
    where these cannot stand (local functions, IR 3), and a branch whose type or shape is not the
    one that the If declares.

Accuracy:
    Exact.

References:
    https://onnx.ai/onnx/operators/onnx__If.html
    onnx/onnx-tensorrt 8.6 builtin_op_importers.cpp:2103-2158
"""

from __future__ import annotations

from collections import Counter

from graphfix.authoring.applying import Draft
from graphfix.authoring.declaring import CANONICAL, graph_pass
from graphfix.authoring.editing import Editor
from graphfix.authoring.views import NodeView, Value
from graphfix.folding.knowing import Knowledge, know
from graphfix.graph import Function, Graph, Node, Tensor, Variable, is_empty


@graph_pass(
    stage=CANONICAL,
    removes=("op:If", "const:If.cond", "shape:If.branches", "form:If.*"),
    emits="*::*",
)
def if_elimination(editor: Editor) -> None:
    """Look at every If; inner ones of a branch that stays have their turn as well."""
    views = [v for g in editor.graphs() for v in editor.nodes(g) if v.op == "If" and not v.domain]
    if not views:
        return
    knowledge = know(editor.model)
    names = _counted(editor)
    for view in views:  # outer ones first: inner ones move with the branch or go with it
        branch = _taken(view, knowledge)
        if branch is None:
            continue
        reason = _misfit(editor, view, branch)
        if reason:
            editor.refuse(view, reason)
        else:
            _inline(editor, view, branch, names)


def _taken(view: NodeView, knowledge: Knowledge) -> Graph | None:
    condition = knowledge.full(view.input(0))
    if condition is None or condition.size != 1:
        return None
    wanted = "then_branch" if bool(condition.reshape(())) else "else_branch"
    return dict(view.node.graphs()).get(wanted)


def _counted(editor: Editor) -> Counter[str]:
    """Count how often each tensor name is defined in the file; sibling branches may share names."""
    names: Counter[str] = Counter()
    for graph in editor.graphs():
        constants = {id(c) for c in graph.initializers}
        names.update(t.name for t in graph.inputs if id(t) not in constants)
        names.update(c.name for c in graph.initializers)
        for node in graph.nodes:
            names.update(t.name for t in node.outputs if t.name)
    return names


def _misfit(editor: Editor, view: NodeView, branch: Graph) -> str:
    root = view.graph.root
    if branch.initializers and (isinstance(root, Function) or editor.model.ir_version < 4):
        return "the branch has initializers, which cannot stand in the graph around it"
    outputs = view.node.outputs
    if len(outputs) > len(branch.outputs):
        return "the branch gives fewer outputs than the If"
    for old, new in zip(outputs, branch.outputs, strict=False):
        if is_empty(old):
            continue
        if old.elem_type and new.elem_type and old.elem_type != new.elem_type:
            return f"the branch gives {Value(new).type_name} for {old.name!r}"
        if (old.opaque is None) != (new.opaque is None):
            return f"the branch gives another kind of type for {old.name!r}"
        if not _agree(old, new):
            return f"the shape of {old.name!r} is not that of the branch"
    return ""


def _agree(old: Tensor, new: Tensor) -> bool:
    if old.shape is None or new.shape is None:
        return True
    return len(old.shape) == len(new.shape) and all(
        a == b or not isinstance(a, int) or not isinstance(b, int)
        for a, b in zip(old.shape, new.shape, strict=True)
    )


def _inline(editor: Editor, view: NodeView, branch: Graph, names: Counter[str]) -> None:
    evidence = editor.witness(view)
    results = [Value(tensor) for tensor in branch.outputs][: len(view.node.outputs)]
    defined = [t for node in branch.nodes for t in node.outputs if t.name]
    for tensor in (*branch.initializers, *defined):
        if names[tensor.name] > 1:
            names[tensor.name] -= 1
            tensor.name = editor.workspace.tensor_name(f"{view.name or 'If'}/{tensor.name}")
            names[tensor.name] += 1
    branch.set_outputs([])
    nodes = list(branch.nodes)
    held = _held(nodes)
    constants = list(branch.initializers)
    branch.nodes, branch.initializers = [], []
    draft = Draft(view.node, nodes, constants, list(results))
    edit = editor.apply(draft, editor.accuracy, evidence=evidence)
    edit.touched.extend(held)


def _held(nodes: list[Node]) -> list[Node]:
    """Turn nodes of a branch, those of their bodies included, into drafted ones; return them."""
    held: list[Node] = []
    for node in nodes:
        held.append(node)
        inputs, outputs = list(node.inputs), list(node.outputs)
        node.detach()
        node.hold(inputs, outputs)
        for tensor in outputs:
            if isinstance(tensor, Variable):
                tensor.draft = node
        for _, body in node.graphs():
            held.extend(_held(body.nodes))
    return held
