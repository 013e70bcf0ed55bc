"""A model of one node, as the text of a probe: what an answer of an engine was given of."""

from __future__ import annotations

import re

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, TensorProto, ValueInfoProto, helper, numpy_helper

from graphfix.engines.node_forms import few_numbers
from graphfix.ir.exporting import export_node
from graphfix.ir.views import NodeView, Value

_MOST = 1024  # numbers of a constant
_DOMAINS = ("", "com.microsoft")  # of which probes have operators
_NESTED = (AttributeProto.GRAPH, AttributeProto.GRAPHS, AttributeProto.TENSOR)
_FLOATS = frozenset({"float16", "float32", "float64", "bool"})
_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_WRITTEN = _FLOATS | _INTEGERS


def example_of(node: NodeView) -> str:
    """Return a probe of a node, ``13 (float[2] i0) => (float[2] o0) { o0 = Relu (i0) }``.

    Weights are ones, small constants as they are. Empty where the text of ONNX has no such model:
    of subgraphs, tensors in attributes, values of no known rank and operators of other domains.
    """
    proto = export_node(node.node)
    if node.domain not in _DOMAINS or any(a.type in _NESTED for a in proto.attribute):
        return ""
    graph, names = GraphProto(name="g"), dict[str, str]()
    for place, name in enumerate(proto.input):
        if not name:
            continue
        if name not in names:
            names[name] = f"i{place}"
            value = node.input(place)
            if value is None or not _put(value, names[name], graph):
                return ""
        proto.input[place] = names[name]
    for place, name in enumerate(proto.output):
        if not name:
            continue
        proto.output[place] = f"o{place}"
        value = node.output(place)
        info = None if value is None else _info(value, f"o{place}")
        if info is None:
            return ""
        graph.output.append(info)
    proto.ClearField("name")
    graph.node.append(proto)
    text = f"{node.opset} {_text(graph)}"
    return text if _is_read(text, graph) else ""


def _put(value: Value, name: str, graph: GraphProto) -> bool:
    """Put an input of the node into the graph; return whether it can be written."""
    info = _info(value, name)
    if info is None:
        return False
    if not value.is_constant:
        graph.input.append(info)
        return True
    shape, dtype = value.static_shape, value.dtype
    if shape is None or dtype is None or np.prod(shape) > _MOST:
        return False
    known = few_numbers(value)
    array = np.ones(shape, dtype) if known is None else known
    graph.initializer.append(numpy_helper.from_array(array, name))
    return True


def _info(value: Value, name: str) -> ValueInfoProto | None:
    shape = value.shape
    if shape is None or value.type_name not in _WRITTEN:
        return None
    sizes = [size if isinstance(size, int) else f"N{axis}" for axis, size in enumerate(shape)]
    return helper.make_tensor_value_info(name, value.elem_type, sizes)


def _text(graph: GraphProto) -> str:
    written = onnx.printer.to_text(graph)
    return " ".join(written.split()).removeprefix("g ")


def _is_read(text: str, graph: GraphProto) -> bool:
    """Say whether the parser of ONNX reads a text as the graph that it was made of."""
    try:
        read = onnx.parser.parse_graph("g " + re.sub(r"^\d+ ", "", text))
    except Exception:  # ParseError, and what the parser raises of large numbers
        return False
    same = read.node == graph.node and [*read.output] == [*graph.output]
    given, wanted = ({each.name: _read(each) for each in one.initializer} for one in (read, graph))
    return same and given == wanted


def _read(tensor: TensorProto) -> object:
    array = numpy_helper.to_array(tensor)
    return str(array.dtype), array.tolist()
