"""Put the only branch in the place of an If that the rest of the model can continue with.

What it does: The branches of an If that PyTorch writes around `squeeze` give different ranks. For
    each branch it is supposed that this one is taken, other conditions that become known by it are
    followed, and ONNX's strict inference is asked. Where one branch ends in operators that cannot
    take what they get (an LSTM of rank 5), every run of the model that gives a result takes the
    other one, which comes to be where the If was.
Why engines need it: TensorRT 8 takes branches of one shape only, and later versions of one rank.
Before:
    n = Equal (Gather (Shape (x), 2), 1)             # x: [B, C, T], T not known
    h = If (n) <then_branch = {Squeeze (x, -1)}, else_branch = {Identity (x)}>
    y = LSTM (Unsqueeze (h, 0), ...)
After:
    h = Squeeze (x, -1)
    y = LSTM (Unsqueeze (h, 0), ...)
When it refuses: The model can continue with both branches, or with neither; an If inside of a Loop
    or Scan. What fails in a body that may not be run is not counted.
Accuracy: Exact wherever the model gives a result: where the other branch was taken it failed. Taken
    by itself the If computes something else, so that only the whole model shows it.
References: pytorch/pytorch torch/onnx/symbolic_opset11.py (squeeze);
    https://onnx.ai/onnx/operators/onnx__If.html; onnx/onnx-tensorrt 8.6
    builtin_op_importers.cpp:2103-2158
"""

from collections.abc import Iterator

import onnx
from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

from graphfix.analysis.folding.known_values import know
from graphfix.authoring import (
    Editor,
    Graph,
    InvalidModel,
    Model,
    NodeView,
    Value,
    graph_pass,
    infer_shapes,
)

from ._branches import counted_names, inline, misfit

_BRANCHES = ("then_branch", "else_branch")
_ROUNDS = 8
_UNKNOWN = "graphfix.unknown"
_NOTE = "the other branch gives a rank that an operator after it cannot take"


@graph_pass(removes="shape:If.branches", emits="*::*")
def if_branch_by_contradiction(editor: Editor) -> None:
    """Try both branches of each If whose branches differ in rank; settle the first that it can."""
    views = [
        view
        for graph in editor.model.graph.walk()
        for view in editor.nodes(graph)
        if view.op == "If" and not view.domain and _differs(view)
    ]
    if not views:
        return
    plain = _without_shapes(editor.model.light_proto())
    for view in views:
        possible = [name for name in _BRANCHES if _is_possible(plain, view, name)]
        if len(possible) != 1:
            ways = "both branches" if possible else "neither branch"
            editor.refuse(view, f"only one branch must fit the model; {ways} can")
            continue
        branch = dict(view.node.graphs()).get(possible[0])
        reason = "the branch is missing" if branch is None else misfit(editor, view, branch)
        if branch is None or reason:
            editor.refuse(view, reason)
            continue
        names = counted_names(editor)
        inline(editor, view, branch, names, note=_NOTE, unproved=True)
        return  # what is known of the others changes with it


def _differs(view: NodeView) -> bool:
    """Say whether the branches are known to give an output different ranks."""
    subgraphs = dict(view.node.graphs())
    both = [subgraphs.get(name) for name in _BRANCHES]
    if not isinstance(both[0], Graph) or not isinstance(both[1], Graph):
        return False
    pairs = zip(both[0].outputs, both[1].outputs, strict=False)
    ranks = [(Value(a).rank, Value(b).rank) for a, b in pairs]
    return any(a is not None and b is not None and a != b for a, b in ranks)


def _without_shapes(model: ModelProto) -> ModelProto:
    """Leave out every shape that is claimed, and not the model's input's or a weight's."""
    work: list[GraphProto] = [model.graph]
    while work:
        graph = work.pop()
        del graph.value_info[:]
        for output in graph.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")
        for node in graph.node:
            work.extend(a.g for a in node.attribute if a.HasField("g"))
    return model


def _is_possible(plain: ModelProto, view: NodeView, name: str) -> bool:
    """Suppose that a branch is taken; say whether the operators can take what they then get."""
    model = ModelProto()
    model.CopyFrom(plain)
    chosen = [tensor.name for tensor in view.node.outputs]
    found = [node for node in _nodes(model.graph) if list(node.output) == chosen]
    around = _around(view)
    if len(found) != 1 or around is None:
        return True  # nothing can be said of it
    _settle(found[0], name)
    for _ in range(_ROUNDS):
        certain = ModelProto()
        certain.CopyFrom(model)
        _leave_out(certain.graph, around)
        certain.opset_import.add(domain=_UNKNOWN, version=1)
        _excuse_rows(certain)
        try:
            typed = infer_shapes(certain, strict_mode=True, data_prop=True)
        except onnx.shape_inference.InferenceError:
            return False
        if not _follow(model, typed):
            break
    return True


def _excuse_rows(model: ModelProto) -> None:
    """Leave out every Gemm whose first operand is a vector, again until there is none.

    ONNX wants a matrix there, and its inference fails; onnxruntime takes the vector for its only
    row, so that such a model gives a result.
    """
    found = True
    while found:
        try:
            typed = infer_shapes(model, data_prop=True)
        except onnx.shape_inference.InferenceError:
            return
        ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in _shaped(typed.graph)}
        found = False
        for node in _nodes(model.graph):
            if node.op_type == "Gemm" and not node.domain and ranks.get(node.input[0]) == 1:
                node.op_type, node.domain, found = "Unknown", _UNKNOWN, True
                del node.attribute[:]


def _shaped(graph: GraphProto) -> Iterator[ValueInfoProto]:
    """Yield what is said of tensors of known rank, in subgraphs too."""
    for infos in (graph.input, graph.value_info, graph.output):
        yield from (info for info in infos if info.type.tensor_type.HasField("shape"))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _shaped(attribute.g)


def _around(view: NodeView) -> set[str] | None:
    """Return the first outputs of the Ifs around a node; None where it is in another body."""
    found: set[str] = set()
    parent = view.graph.parent
    while parent is not None:
        if parent.op != "If" or not parent.outputs:
            return None
        found.add(parent.outputs[0].name)
        parent = parent.graph.parent
    return found


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _leave_out(graph: GraphProto, around: set[str]) -> None:
    """Leave out every body that may not be run: what fails in there proves nothing."""
    for node in graph.node:
        subgraphs = [a.g for a in node.attribute if a.HasField("g")]
        settled = len(subgraphs) == len(_BRANCHES) and subgraphs[0] == subgraphs[1]
        if subgraphs and not settled and node.output[0] not in around:
            node.op_type, node.domain = "Unknown", _UNKNOWN
            del node.attribute[:]
            continue
        for body in subgraphs:
            _leave_out(body, around)


def _follow(model: ModelProto, typed: ModelProto) -> bool:
    """Settle each If whose condition is known now; say whether there was one."""
    try:
        knowing = Model(typed)
    except InvalidModel:
        return False
    knowledge = know(knowing)
    taken: dict[str, str] = {}
    for node in knowing.nodes():
        known = knowledge.full(NodeView(node).input(0)) if node.op in ("If", "Unknown") else None
        if known is not None and known.size == 1 and node.outputs:
            taken[node.outputs[0].name] = _BRANCHES[0 if bool(known.reshape(())) else 1]
    moved = False
    for written in list(_nodes(model.graph)):
        if written.op_type == "If" and written.output[0] in taken:
            moved = _settle(written, taken[written.output[0]]) or moved
    return moved


def _settle(node: NodeProto, name: str) -> bool:
    """Write one branch in the place of the other one too; say whether they differed."""
    subgraphs = {a.name: a.g for a in node.attribute if a.HasField("g")}
    if set(subgraphs) != set(_BRANCHES) or subgraphs[_BRANCHES[0]] == subgraphs[_BRANCHES[1]]:
        return False
    other = _BRANCHES[1 - _BRANCHES.index(name)]
    subgraphs[other].CopyFrom(subgraphs[name])
    return True
