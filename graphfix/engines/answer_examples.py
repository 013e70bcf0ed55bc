"""A model of one node, as the text of a probe: what an answer of an engine was given of."""

from __future__ import annotations

import re

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, TensorProto, numpy_helper

from graphfix.engines.node_alone import graph_of
from graphfix.engines.node_forms import few_numbers
from graphfix.ir.views import Array, NodeView, Value

_MOST = 1024  # numbers of a constant
_DOMAINS = ("", "com.microsoft")  # of which probes have operators
_FLOATS = frozenset({"float16", "float32", "float64", "bool"})
_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_WRITTEN = _FLOATS | _INTEGERS


def example_of(node: NodeView) -> str:
    """Return a probe of a node, ``13 (float[2] i0) => (float[2] o0) { o0 = Relu (i0) }``.

    Weights are ones, small constants as they are. Empty where the text of ONNX has no such model:
    of subgraphs, tensors in attributes, values of no known rank and operators of other domains.
    """
    operands = (*node.inputs, *node.outputs)
    if node.domain not in _DOMAINS or any(v and v.type_name not in _WRITTEN for v in operands):
        return ""
    graph = graph_of(node, _numbers)
    if graph is None or any(a.type == AttributeProto.TENSOR for a in graph.node[0].attribute):
        return ""
    written = onnx.printer.to_text(graph)
    text = f"{node.opset} {' '.join(written.split()).removeprefix('g ')}"
    return text if _is_read(text, graph) else ""


def _numbers(value: Value) -> Array | None:
    shape, dtype = value.static_shape, value.dtype
    if shape is None or dtype is None or np.prod(shape) > _MOST:
        return None
    known = few_numbers(value)
    return np.ones(shape, dtype) if known is None else known


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
