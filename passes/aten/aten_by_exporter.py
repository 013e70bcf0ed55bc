"""Replace any other ATen operator by what PyTorch's own exporter makes of it.

What it does: Has the PyTorch that is installed export a module that calls just this operator, with
    the constants of the node and the dimensions of its inputs, takes the result to the opset of the
    file, and puts it in place of the node. It is tried where no other pass replaces the node.
Why engines need it: ATen has some two thousand operators, and the exporters of PyTorch have written
    those that ONNX lacks as nodes that no engine knows. A newer PyTorch translates many of them.
Before: y = org.pytorch.aten.ATen <operator = "bucketize"> (x, limits)
After: nodes of ONNX that compute torch.bucketize(x, limits)
When it refuses: PyTorch is not installed, an argument is none of the operator's, several overloads
    would take what is given and none is named, the operator is a Placeholder (the exporter has left
    out what it puts where), its exporter does not translate the operator or takes it at fixed sizes
    alone, what it gives has another rank or type than the file says, what is a number or a list of
    numbers to PyTorch is computed at run time, rank or type of an input is unknown, the operator
    draws at random or changes its input, or the result cannot be had at the opset of the file.
Accuracy: Exact where floats are only moved, and integers and booleans computed. What computes
    floats is approximate: the exporter may take other steps than PyTorch. Each site is compared
    with PyTorch's own result.
References: https://docs.pytorch.org/docs/stable/onnx.html (torch.onnx.export with dynamo=True);
    pytorch/pytorch torch/onnx/_internal/exporter, aten/src/ATen/native/native_functions.yaml
"""

from collections.abc import Sequence
from typing import Any

from onnx import TensorProto, ValueInfoProto

from graphfix.authoring import (
    APPROXIMATE,
    EXACT,
    GIVES_ELEMENTS,
    Array,
    Builder,
    EngineFailed,
    InferredType,
    Model,
    NodeView,
    Refuse,
    Value,
    copy_constants,
    copy_nodes,
    infer_proto,
    is_none,
    named_among,
    named_by,
    overloads_called,
    rewrite,
    type_name,
)
from graphfix.authoring.pytorch.call import OperatorCall, has_pytorch
from graphfix.authoring.pytorch.running import run_in_pytorch

from ._arguments import DOMAINS
from ._pytorch import argument_of, attribute_of, tensors_of, translated

_OWN = frozenset({"operator", "overload_name", "overload"})
_OPSET = 18
# What the exporter works on instead of index_put and the like; below opset 11 it may stay.
_LEFT_OUT = "Placeholder"
_OPERANDS_LEFT_OUT = (
    "the file does not say what is put where: below opset 11 PyTorch's exporter leaves a "
    "Placeholder for {}, without its operands; export the model again at opset 11 or higher"
)
_WITHOUT = 'PyTorch must be installed to translate {}: pip install "graphfix[torch]"'


def _call(node: NodeView) -> OperatorCall:
    """Return the call of a node.

    Raises:
        Refuse: PyTorch is not here, no overload takes what the node gives, or several do, or the
            rank or type of an input is unknown.
    """
    operator, overload = named_by(node)
    if (node.node.domain or "", node.op, node.overload) in node.graph.root.known_functions:
        raise Refuse(f"{node.op} must be PyTorch's operator; it is a local function of the model")
    if operator == _LEFT_OUT:
        written = node.attr("name", "")
        raise Refuse(_OPERANDS_LEFT_OUT.format(written or "an operator that writes into its input"))
    called = overloads_called(node)
    overload = called[0].name if called else overload
    if not has_pytorch():
        raise Refuse(_WITHOUT.format(operator))
    return OperatorCall(
        operator,
        overload,
        tuple(argument_of(value, operator) for value in node.inputs),
        tuple((n, attribute_of(node.attr(n))) for n in node.attributes if n not in _OWN),
        len(node.node.outputs),
    )


def _model(node: NodeView, opset: int) -> Model:
    try:
        model = Model(translated(_call(node), opset))
    except EngineFailed as error:
        raise Refuse(error.message) from None
    for declared, made in zip(node.outputs, infer_proto(model.proto).graph.output, strict=False):
        _hold_to_declared(declared, made)
    return model


def _hold_to_declared(declared: Value | None, made: ValueInfoProto) -> None:
    """Hold what the exporter made to what the file says of the node's output.

    Raises:
        Refuse: Rank or type are not the same.
    """
    if declared is None:
        return
    kind, name = made.type.tensor_type, f"output {made.name} of what PyTorch exports"
    rank = len(kind.shape.dim)
    if declared.rank not in (None, rank):
        raise Refuse(f"{name} must have rank {declared.rank} as {declared.name}; it has {rank}")
    if declared.elem_type and kind.elem_type != declared.elem_type:
        kinds = declared.type_name, type_name(kind.elem_type)
        raise Refuse(f"{name} must be {kinds[0]} as {declared.name}; it is {kinds[1]}")


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The types of what the exporter wrote, with the names of this file's dimensions."""
    model = _model(node, node.opset or _OPSET)
    graph = infer_proto(model.proto).graph
    names: dict[str, int | str | None] = {}
    for value, info in zip(_tensors(node), graph.input, strict=True):
        for dim, own in zip(info.type.tensor_type.shape.dim, value.shape or (), strict=False):
            if dim.dim_param:
                names.setdefault(dim.dim_param, own)
    found: list[InferredType | None] = []
    for info in graph.output[: len(node.node.outputs)]:
        kind = info.type.tensor_type
        dims = (
            d.dim_value if d.HasField("dim_value") else names.get(d.dim_param)
            for d in kind.shape.dim
        )
        found.append(InferredType(kind.elem_type, tuple(dims)))
    return found


def _tensors(node: NodeView) -> list[Value]:
    """Return the tensors of a call, the entries of lists among them, in their order."""
    found: list[Value] = []
    for value in node.inputs:
        if value is None or is_none(value) or value.elem_type == TensorProto.STRING:
            continue
        entries = tensors_of(value)
        found += [e for e in ((value,) if entries is None else entries) if e is not None]
    return found


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Ask PyTorch."""
    operator, overload = named_among(attributes)
    further = [(n, attribute_of(v)) for n, v in attributes.items() if n not in _OWN]
    return run_in_pytorch(operator, overload, inputs, further)


@rewrite(
    ("*::ATen", *(f"{domain}::*" for domain in DOMAINS if domain)),
    removes="op:aten::*",
    emits="*::*",
    accuracy=APPROXIMATE,
    infer=infer,
    evaluate=evaluate,
    last_resort=True,
)
def aten_by_exporter(node: NodeView, build: Builder) -> tuple[Value, ...]:
    """Put the exported nodes in place, see the module."""
    model = _model(node, build.opset)
    values = {
        id(tensor): value for tensor, value in zip(model.graph.inputs, _tensors(node), strict=True)
    }
    copy_constants(build, model.graph, values)
    copy_nodes(build, model.graph.nodes, values)
    results = [values[id(t)] for t in model.graph.outputs[: len(node.node.outputs)]]
    if any(_computes_floats(NodeView(node)) for node in build.nodes):
        build.declare(APPROXIMATE, "floats are computed as PyTorch's exporter writes them")
    else:
        build.declare(EXACT, "")
    return tuple(results)


def _computes_floats(node: NodeView) -> bool:
    """Say whether a node gives floats that are no elements of what it reads."""
    if node.op in GIVES_ELEMENTS and not any(True for _ in node.node.graphs()):
        return False
    return any(v is None or v.dtype is None or v.dtype.kind not in "biu" for v in node.outputs)
