"""One thing that is wrong with a file, and the types that it is told with."""

from __future__ import annotations

from dataclasses import dataclass

from onnx import TypeProto

from graphfix.authoring.views import NodeView
from graphfix.graph import Tensor, shape_of_type
from graphfix.storage.weights import type_name


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that cannot be as the file says it.

    Attributes:
        kind: The id of the rule of `graphfix.engines.file_rules` that it falls under.
        message: One sentence, with both sides of a contradiction.
        node: The node; None where it is about the file.
        text: What ONNX itself says; empty where it says nothing.
    """

    kind: str
    message: str
    node: NodeView | None = None
    text: str = ""


def type_text(proto: TypeProto | None) -> str:
    """Return a type as reports write it: ``float32[2, N]``, ``sequence of int64[?]``."""
    if proto is None:
        return "unknown type"
    kind = proto.WhichOneof("value")
    if kind == "sequence_type":
        return f"sequence of {type_text(proto.sequence_type.elem_type)}"
    if kind == "optional_type":
        return f"optional {type_text(proto.optional_type.elem_type)}"
    if kind == "sparse_tensor_type":
        return f"sparse {type_name(proto.sparse_tensor_type.elem_type)}"
    if kind != "tensor_type":
        return str(kind or "unknown type").removesuffix("_type")
    elem_type, shape = shape_of_type(proto)
    if shape is None:
        return f"{type_name(elem_type)} of unknown rank"
    dims = ", ".join("?" if dim is None else str(dim) for dim in shape)
    return f"{type_name(elem_type)}[{dims}]"


def called(node: NodeView) -> str:
    """Return a node as a sentence names it: ``Add 'sum_3'``, ``Add``."""
    return f"{node.op} {node.name!r}" if node.name else node.op


def named(tensor: Tensor, known: TypeProto | None) -> str:
    """Return a tensor with its type: ``x (float32[2, 3])``."""
    return f"{tensor.name} ({type_text(known)})"
