"""Correct a declared shape that the model itself proves wrong.

What it does: Where there is an If whose condition is known, a SplitToSequence into single elements
    that does not keep the axis, or an STFT without `onesided`, infers all shapes again from the
    inputs and constants alone: only the branch that runs counts, the single elements have no axis,
    a spectrum has one side, and what the file declares of other tensors is not believed. Where the
    result contradicts a declared shape (another rank or another value), the declaration is
    corrected. The values stay what they are; for an output of the model the report says old and new
    under "Interface changes". The measure that it lowers is the number of declarations that
    contradict the graph.
Why engines need it: PyTorch's exporter declares the output of an If by the branch that never runs
    (torch.scatter_reduce: [15] for what is [3, 5]). With the right branch in place, ONNX's shape
    inference and checker refuse the file, and whatever believes the declaration reckons wrong. It
    writes torch.unbind in scripted code as SplitToSequence <keepdims = 0> (x, 1): onnxruntime drops
    the axis, as PyTorch does, while ONNX's inference ignores `keepdims` next to a length, and what
    the exporter declares comes from that inference. STFT without `onesided` has one side by its
    page and in onnxruntime, and two in ONNX's inference.
Before:
    y: float[15]                   x: float[3, 5], c = false
    y = If (c) <then_branch = {a = Reshape (x, {-1})}, else_branch = {b = Identity (x)}>
After: y: float[3, 5]
When it refuses: It leaves alone what inference does not know or does not contradict, every
    declaration of an input (inputs are what the proof rests on), and files without such a node,
    where a wrong declaration is in no repair's way.
Accuracy: Exact: nothing that is computed changes.
References: https://onnx.ai/onnx/repo-docs/ShapeInference.html; pytorch/pytorch
    torch/onnx/_internal/torchscript_exporter/symbolic_opset16.py (scatter_reduce),
    symbolic_opset11.py (unbind); onnxruntime core/providers/cpu/sequence/sequence_ops.cc
"""

from collections.abc import Iterable, Iterator

from onnx import GraphProto, TypeProto, ValueInfoProto

from graphfix.analysis.folding.known_values import Knowledge, know
from graphfix.authoring import (
    CANONICAL,
    Editor,
    Graph,
    Model,
    Node,
    NodeView,
    Shape,
    Variable,
    graph_pass,
    infer_proto,
    shape_of_type,
    shapes_contradict,
)

_BRANCHES = ("then_branch", "else_branch")
Untaken = dict[int, str]


@graph_pass(stage=CANONICAL)
def declared_shape_correction(editor: Editor) -> None:
    """Prove shapes where an If has nothing to decide; see the module."""
    model = editor.model
    untaken, single = _untaken(model), _single(model)
    if not untaken and not single and not any(_is_one_sided(node) for node in model.nodes()):
        return
    proto = model.light_proto()
    for function in proto.functions:
        del function.value_info[:]
    _forget(model.graph, proto.graph, untaken, single)
    symbols = {d for t in model.graph.inputs for d in t.shape or () if isinstance(d, str)}
    for tensor, proved in _proved(model.graph, infer_proto(proto).graph, untaken):
        declared = tensor.shape
        if declared is None or not shapes_contradict(declared, proved):
            continue
        fallback = declared if len(declared) == len(proved) else _named(proved, symbols)
        shape = tuple(
            new if isinstance(new, int) else old for new, old in zip(proved, fallback, strict=True)
        )
        editor.correct_shape(tensor, shape)


def _untaken(model: Model) -> Untaken:
    """Return the branch that never runs of each If whose condition is known, by node."""
    choices = [node for node in model.nodes() if node.op == "If" and not node.domain]
    knowledge = know(model) if choices else None
    return {
        id(node): branch
        for node in choices
        for branch in (_other(node, knowledge),)
        if branch is not None
    }


def _other(node: Node, knowledge: Knowledge | None) -> str | None:
    condition = knowledge.full(NodeView(node).input(0)) if knowledge is not None else None
    if condition is None or condition.size != 1 or len(dict(node.graphs())) != len(_BRANCHES):
        return None
    return _BRANCHES[int(bool(condition.reshape(())))]


def _single(model: Model) -> frozenset[int]:
    """Return the SplitToSequence nodes, by identity, that give single elements without the axis."""
    splits = [node for node in model.nodes() if node.op == "SplitToSequence" and not node.domain]
    knowledge = know(model) if splits else None
    found: set[int] = set()
    for node in splits:
        view = NodeView(node)
        length = knowledge.full(view.input(1)) if knowledge is not None else None
        alone = length is not None and not length.ndim and int(length) == 1
        if alone and not int(view.attr("keepdims", 1)):
            found.add(id(node))
    return frozenset(found)


def _is_one_sided(node: Node) -> bool:
    """Say whether a node is an STFT of the sides that it has by default."""
    return node.op == "STFT" and not node.domain and NodeView(node).attr("onesided") is None


def _named(shape: Shape, symbols: set[str]) -> Shape:
    """Keep the symbols of the model; inference makes up others."""
    return tuple(d if isinstance(d, int) or d in symbols else None for d in shape)


def _forget(graph: Graph, proto: GraphProto, untaken: Untaken, single: frozenset[int]) -> None:
    """Drop every declared shape below the inputs, and let the branch that runs stand for both."""
    del proto.value_info[:]
    _drop_shapes(proto.output)
    for node, written in zip(graph.nodes, proto.node, strict=True):
        subgraphs = {a.name: a.g for a in written.attribute if a.HasField("g")}
        for name, body in node.graphs():
            if name in subgraphs:
                _drop_shapes(subgraphs[name].input)
                _forget(body, subgraphs[name], untaken, single)
        if id(node) in single:
            del written.input[1:]  # without a length, inference heeds keepdims
        never = untaken.get(id(node))
        if never is not None:
            runs = _BRANCHES[1 - _BRANCHES.index(never)]
            subgraphs[never].CopyFrom(subgraphs[runs])


def _drop_shapes(infos: Iterable[ValueInfoProto]) -> None:
    for info in infos:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")


def _proved(graph: Graph, proto: GraphProto, untaken: Untaken) -> Iterator[tuple[Variable, Shape]]:
    """Yield each tensor that a node computes, with what was inferred of it."""
    found: dict[str, TypeProto] = {info.name: info.type for info in proto.value_info}
    found.update((info.name, info.type) for info in proto.output)
    for node, written in zip(graph.nodes, proto.node, strict=True):
        for tensor in node.outputs:
            shape = shape_of_type(found[tensor.name])[1] if tensor.name in found else None
            if isinstance(tensor, Variable) and tensor.name and shape is not None:
                yield tensor, shape
        subgraphs = {a.name: a.g for a in written.attribute if a.HasField("g")}
        for name, body in node.graphs():
            if name in subgraphs and untaken.get(id(node)) != name:
                yield from _proved(body, subgraphs[name], untaken)
