"""Putting a branch of an If in its place: what two passes do for different reasons."""

from collections import Counter

from graphfix.authoring import (
    Draft,
    Editor,
    Function,
    Graph,
    Node,
    NodeView,
    Tensor,
    Value,
    Variable,
    is_empty,
)


def counted_names(editor: Editor) -> Counter[str]:
    """Count how often each tensor name is defined in the file; sibling branches may share names."""
    names: Counter[str] = Counter()
    for graph in editor.graphs():
        constants = {id(c) for c in graph.initializers}
        names.update(t.name for t in graph.inputs if id(t) not in constants)
        names.update(c.name for c in graph.initializers)
        for node in graph.nodes:
            names.update(t.name for t in node.outputs if t.name)
    return names


def misfit(editor: Editor, view: NodeView, branch: Graph) -> str:
    """Return why a branch cannot be where its If is; empty where it can."""
    root = view.graph.root
    if branch.initializers and (isinstance(root, Function) or editor.model.ir_version < 4):
        return "the branch has initializers, which cannot be in the graph around it"
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


def inline(
    editor: Editor,
    view: NodeView,
    branch: Graph,
    names: Counter[str],
    *,
    note: str = "",
    unproved: bool = False,
) -> None:
    """Put the nodes of a branch in the place of its If.

    Args:
        editor: The editor of the pass.
        view: The If.
        branch: One of its branches.
        names: How often each tensor name is defined; brought up to date.
        note: What is said of the site.
        unproved: Whether the site by itself cannot be shown to compute the same.
    """
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
    edit = editor.apply(draft, editor.accuracy, note, evidence=evidence, unproved=unproved)
    edit.touched.extend(held)


def _held(nodes: list[Node]) -> list[Node]:
    """Turn nodes of a branch, those of their subgraphs included, into drafted ones; return them."""
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
