"""Whether the data that a file stores is as long as the types and sizes say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod

from onnx import AttributeProto, SparseTensorProto, TensorProto

from graphfix.ir.model import Model
from graphfix.ir.storage.weights import dtype_of, is_external, stored_bytes, type_name
from graphfix.ir.views import NodeView
from graphfix.validity.complaint import Complaint, called

_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
_FIELD_OF: dict[int, str] = {
    TensorProto.FLOAT: "float_data",
    TensorProto.COMPLEX64: "float_data",
    TensorProto.INT64: "int64_data",
    TensorProto.STRING: "string_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.COMPLEX128: "double_data",
    TensorProto.UINT64: "uint64_data",
    TensorProto.UINT32: "uint64_data",
}


def data_complaints(model: Model) -> Iterator[Complaint]:
    """Yield every stored tensor whose data does not fit its type and sizes."""
    for graph in model.graphs():
        for constant in graph.initializers:
            proto = constant.weights.proto
            if isinstance(proto, SparseTensorProto):
                continue  # its values and indices say themselves how long they are
            found = data_complaint(proto, f"initializer {constant.name}")
            if found is not None:
                kind, message = found
                users = [node for node in constant.outputs if node.graph is graph]
                yield Complaint(kind, message, NodeView(users[0]) if users else None)
        for node in graph.nodes:
            for name in node.attrs if node.proto is not None and node.proto.attribute else ():
                held = node.attrs.proto(name)
                if held is None or held.type != AttributeProto.TENSOR:
                    continue
                view = NodeView(node)
                found = data_complaint(held.t, f"{name} of {called(view)}")
                if found is not None:
                    yield Complaint(*found, view)


def data_complaint(proto: TensorProto, what: str) -> tuple[str, str] | None:
    """Return what is wrong with the data of one tensor, as (kind, sentence).

    Args:
        proto: The tensor; what lies outside the file is looked at when that is read.
        what: The tensor in the words of the sentence.
    """
    sizes = list(proto.dims)
    shown = f"{type_name(proto.data_type)}[{', '.join(map(str, sizes))}]"
    if any(size < 0 for size in sizes):
        return "negative-size", f"{what} is {shown}: a stored tensor cannot have a negative size"
    if is_external(proto) or not _is_known(proto.data_type):
        return None
    count = prod(sizes)
    typed = {field: len(getattr(proto, field)) for field in _FIELDS}
    if proto.HasField("raw_data"):
        length, wanted = len(proto.raw_data), stored_bytes(proto)
        if length == wanted and not any(typed.values()):
            return None
        if length == wanted:
            return "data-twice", f"{what} is stored twice: as raw data and as numbers"
        if length or not any(typed.values()):
            return "stored-data", f"{what} is {shown}, {wanted} bytes, and has {length} bytes"
    field = _FIELD_OF.get(proto.data_type, "int32_data")
    wanted = _entries(proto.data_type, count)
    if typed[field] == wanted and sum(map(bool, typed.values())) == bool(wanted):
        return None
    if typed[field] == wanted:
        return "data-twice", f"{what} is stored twice, as numbers of two kinds"
    return "stored-data", f"{what} is {shown}, {wanted} entries, and has {typed[field]} of {field}"


@cache
def _is_known(elem_type: int) -> bool:
    return elem_type == TensorProto.STRING or dtype_of(elem_type) is not None


def _entries(elem_type: int, count: int) -> int:
    """Return how many numbers the field for an element type has, packed types as they are."""
    if elem_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        return 2 * count
    name = type_name(elem_type)
    if name in ("int4", "uint4", "float4e2m1"):
        return (count + 1) // 2
    if name in ("int2", "uint2"):
        return (count + 3) // 4
    return count
