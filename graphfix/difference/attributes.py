"""Attributes of nodes, compared whatever their order and however their tensors are stored."""

from __future__ import annotations

from collections.abc import Callable

from onnx import AttributeProto, NodeProto, SparseTensorProto, TensorProto, numpy_helper

from graphfix.difference.contents import described, digest
from graphfix.difference.scopes import Stored, type_text

_SHOWN = 8
_MOST_CHARACTERS = 120


def attribute_key(attribute: AttributeProto, value_of: Callable[[Stored], bytes]) -> bytes:
    """Return what stands for an attribute; graphs count as present only.

    Args:
        attribute: The attribute.
        value_of: What stands for a tensor.
    """
    head = (attribute.name.encode(), str(attribute.type).encode(), attribute.ref_attr_name.encode())
    kinds = AttributeProto
    if attribute.type in (kinds.GRAPH, kinds.GRAPHS):
        return digest(*head, str(len(attribute.graphs)).encode())
    if attribute.type == kinds.TENSOR:
        return digest(*head, value_of(attribute.t))
    if attribute.type == kinds.TENSORS:
        return digest(*head, *(value_of(tensor) for tensor in attribute.tensors))
    if attribute.type == kinds.SPARSE_TENSOR:
        return digest(*head, value_of(attribute.sparse_tensor))
    if attribute.type == kinds.SPARSE_TENSORS:
        return digest(*head, *(value_of(sparse) for sparse in attribute.sparse_tensors))
    plain = AttributeProto()
    plain.CopyFrom(attribute)
    plain.doc_string = ""
    return digest(*head, plain.SerializeToString(deterministic=True))


def attributes_of(node: NodeProto) -> dict[str, AttributeProto]:
    """Return the attributes by name."""
    return {attribute.name: attribute for attribute in node.attribute}


def attribute_text(attribute: AttributeProto) -> str:
    """Return the value of an attribute in one short line."""
    kinds = AttributeProto
    if attribute.ref_attr_name:
        return f"@{attribute.ref_attr_name}"
    simple: dict[int, Callable[[], str]] = {
        kinds.FLOAT: lambda: f"{attribute.f:.9g}",
        kinds.INT: lambda: str(attribute.i),
        kinds.STRING: lambda: _shown(attribute.s),
        kinds.FLOATS: lambda: _listed([f"{value:.9g}" for value in attribute.floats]),
        kinds.INTS: lambda: _listed([str(value) for value in attribute.ints]),
        kinds.STRINGS: lambda: _listed([_shown(text) for text in attribute.strings]),
        kinds.TENSOR: lambda: tensor_text(attribute.t),
        kinds.TENSORS: lambda: _listed([tensor_text(tensor) for tensor in attribute.tensors]),
        kinds.SPARSE_TENSOR: lambda: described(attribute.sparse_tensor),
        kinds.GRAPH: lambda: f"graph of {len(attribute.g.node)} nodes",
        kinds.GRAPHS: lambda: f"{len(attribute.graphs)} graphs",
        kinds.TYPE_PROTO: lambda: type_text(attribute.tp),
    }
    make = simple.get(attribute.type)
    return make() if make is not None else f"{len(attribute.ListFields())} values"


def tensor_text(tensor: Stored) -> str:
    """Return dtype, shape and, of a small tensor in the file, the values."""
    text = described(tensor)
    small = isinstance(tensor, TensorProto) and tensor.data_location != TensorProto.EXTERNAL
    if isinstance(tensor, SparseTensorProto) or not small:
        return text
    if tensor.data_type == TensorProto.UNDEFINED or sum(tensor.dims) > _SHOWN:
        return text
    values = numpy_helper.to_array(tensor)
    if values.size > _SHOWN:
        return text
    return f"{text} {' '.join(str(values.tolist()).split())}"


def _shown(raw: bytes) -> str:
    text = raw.decode("utf-8", "backslashreplace")
    kept = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
    return repr(kept)


def _listed(items: list[str]) -> str:
    if len(items) > 2 * _SHOWN:
        return f"[{', '.join(items[:_SHOWN])}, ... {len(items)} values]"
    return f"[{', '.join(items)}]"
