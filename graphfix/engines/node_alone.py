"""A graph of one node, given what it gets in its model."""

from __future__ import annotations

from collections.abc import Callable

from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

from graphfix.ir.exporting import export_node
from graphfix.ir.views import Array, NodeView, Value

_NESTED = (AttributeProto.GRAPH, AttributeProto.GRAPHS)
_IR = 8
_MOST = 1 << 26  # bytes of a constant


def model_of(node: NodeView) -> ModelProto | None:
    """Return a model of a node, its constants as they are.

    Returns:
        None where there is none, see `graph_of`, or where constants are big.
    """
    graph = graph_of(node, _whole)
    if graph is None:
        return None
    imports = [helper.make_opsetid(name, opset) for name, opset in node.node.graph.opsets.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=_IR)


def graph_of(node: NodeView, numbers: Callable[[Value], Array | None]) -> GraphProto | None:
    """Return a graph of a node, whose inputs are i0, i1, ... and whose outputs are o0, o1, ...

    Args:
        node: The node.
        numbers: Gives a constant input; None for what is not to be written.

    Returns:
        None where a value has no known type and rank, or the node has subgraphs, which may read
        what is around it.
    """
    proto = NodeProto()
    proto.CopyFrom(export_node(node.node))  # which may be that of the file
    if any(attribute.type in _NESTED for attribute in proto.attribute):
        return None
    graph, names = GraphProto(name="g"), dict[str, str]()
    for place, name in enumerate(proto.input):
        if not name:
            continue
        if name not in names:
            names[name] = f"i{place}"
            value = node.input(place)
            if value is None or not _put(value, names[name], graph, numbers):
                return None
        proto.input[place] = names[name]
    for place, name in enumerate(proto.output):
        if not name:
            continue
        proto.output[place] = f"o{place}"
        value = node.output(place)
        info = None if value is None else _info(value, f"o{place}")
        if info is None:
            return None
        graph.output.append(info)
    for field in ("name", "doc_string", "metadata_props"):  # exporters write their stack there
        proto.ClearField(field)
    proto.domain = proto.domain  # as the parser of ONNX has it, where it is left out
    if not proto.overload:
        proto.ClearField("overload")
    graph.node.append(proto)
    return graph


def _whole(value: Value) -> Array | None:
    array = value.array()
    return array if array is None or array.nbytes <= _MOST else None


def _put(
    value: Value, name: str, graph: GraphProto, numbers: Callable[[Value], Array | None]
) -> bool:
    """Put an input of the node into the graph; return whether it can be written."""
    info = _info(value, name)
    if info is None:
        return False
    if not value.is_constant:
        graph.input.append(info)
        return True
    array = numbers(value)
    if array is None:
        return False
    graph.initializer.append(numpy_helper.from_array(array, name))
    return True


def _info(value: Value, name: str) -> ValueInfoProto | None:
    shape = value.shape
    if shape is None or not value.elem_type or not value.is_tensor:
        return None
    sizes = [size if isinstance(size, int) else f"N{axis}" for axis, size in enumerate(shape)]
    return helper.make_tensor_value_info(name, value.elem_type, sizes)
