"""Writing another type or shape into the declaration of a tensor."""

from __future__ import annotations

from onnx import TypeProto, ValueInfoProto

from graphfix.analysis.inference import type_of, type_text
from graphfix.ir.exporting import make_info
from graphfix.ir.graph import Graph, Shape, Variable, shape_of_type
from graphfix.ir.views import Value


def redeclare(tensor: Variable, shape: Shape) -> tuple[str, str]:
    """Give a tensor another shape, also where the file declares one; return old and new type."""
    old = _text(tensor)
    tensor.shape = shape
    if tensor.info is not None:
        info = ValueInfoProto()
        info.CopyFrom(tensor.info)
        info.type.CopyFrom(make_info(tensor).type)
        tensor.info = info
    return old, _text(tensor)


def redeclare_type(graph: Graph, tensor: Variable, known: TypeProto) -> tuple[str, str]:
    """Give the output of a node another type; return old and new one.

    What the file says of it apart from is dropped, unless it is an output of its graph.
    """
    old = type_of(tensor)
    is_tensor = known.HasField("tensor_type")
    tensor.elem_type, tensor.shape = shape_of_type(known) if is_tensor else (0, None)
    tensor.opaque = None if is_tensor else known
    if tensor.output_count and tensor.info is not None:
        info = ValueInfoProto()
        info.CopyFrom(tensor.info)
        info.type.CopyFrom(known)
        tensor.info = info
    else:
        leave_undeclared(graph, tensor)
    return type_text(old), type_text(known)


def leave_undeclared(graph: Graph, tensor: Variable) -> None:
    """Drop what the file declares of a tensor between nodes; what is inferred of it stays.

    The inputs and outputs of a body keep a declaration, of the element type alone.
    """
    if any(tensor is end for end in (*graph.inputs, *graph.outputs)):
        tensor.info = make_info(tensor)
        tensor.info.type.tensor_type.ClearField("shape")
        return
    tensor.info = None
    graph.redeclared[tensor.name] = None


def declared_in_symbols(graph: Graph) -> list[Variable]:
    """Return the tensors of a scope that are declared with a size that is no number.

    The inputs and outputs of the model are left out, and what nodes of other domains give: that is
    known from the declaration alone.
    """
    ends = () if graph.parent is None else (*graph.inputs, *graph.outputs)
    found = [tensor for tensor in ends if isinstance(tensor, Variable)]
    found = [t for t in found if t.opaque is None and _is_symbolic(t.info or make_info(t))]
    if graph.proto is None or not graph.proto.value_info:
        return found
    declared = {info.name for info in graph.proto.value_info if _is_symbolic(info)}
    between = (
        tensor
        for node in graph.nodes
        if not node.domain
        for tensor in node.outputs
        if isinstance(tensor, Variable) and not tensor.output_count
    )
    kept = declared - graph.redeclared.keys()
    return [*found, *(tensor for tensor in between if tensor.name in kept)]


def _is_symbolic(info: ValueInfoProto) -> bool:
    dims = info.type.tensor_type.shape.dim
    return any(not dim.HasField("dim_value") for dim in dims)


def _text(tensor: Variable) -> str:
    if _is_declared_untyped(tensor):
        return "unknown type"
    if tensor.shape is None or _is_declared_bare(tensor):
        return f"{Value(tensor).type_name} of unknown rank"
    dims = ", ".join("?" if dim is None else str(dim) for dim in tensor.shape)
    return f"{Value(tensor).type_name}[{dims}]"


def _is_declared_bare(tensor: Variable) -> bool:
    """Say whether the file declares a tensor, and says nothing of its shape."""
    if tensor.info is None or not tensor.info.type.HasField("tensor_type"):
        return False
    return not tensor.info.type.tensor_type.HasField("shape")


def _is_declared_untyped(tensor: Variable) -> bool:
    """Say whether the file declares a tensor, and says nothing of its element type."""
    if tensor.info is None:
        return False
    kind = tensor.info.type.WhichOneof("value")
    return kind is None or (kind == "tensor_type" and not tensor.info.type.tensor_type.elem_type)
