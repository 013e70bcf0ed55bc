"""Writing another type or shape into the declaration of a tensor."""

from __future__ import annotations

from onnx import TypeProto, ValueInfoProto

from graphfix.authoring.views import Value
from graphfix.exporting import make_info
from graphfix.graph import Graph, Shape, Variable, shape_of_type
from graphfix.inference import type_of, type_text


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

    What the file says of it besides is dropped, unless it is an output of its graph.
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
        tensor.info = None
        graph.redeclared[tensor.name] = None
    return type_text(old), type_text(known)


def _text(tensor: Variable) -> str:
    if tensor.shape is None:
        return f"{Value(tensor).type_name} of unknown rank"
    dims = ", ".join("?" if dim is None else str(dim) for dim in tensor.shape)
    return f"{Value(tensor).type_name}[{dims}]"
