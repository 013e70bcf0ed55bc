"""A switch: an input of one bool that decides Ifs, as merged decoders of optimum have."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import TensorProto

from graphfix.ir.graph import Graph, Node, Tensor, Variable
from graphfix.operators.table import CARRIES_FIRST
from graphfix.report import NodeRef


def switch_of(graph: Graph, left: Sequence[NodeRef]) -> str:
    """Return the input that decides the first If of some nodes; empty where none does.

    Args:
        graph: The main graph.
        left: The nodes, of the graph or of subgraphs in it.
    """
    outputs = {name for ref in left if ref.op == "If" for name in ref.outputs if name}
    for node in graph.nodes:
        if node.op == "If" and any(tensor.name in outputs for tensor in node.outputs):
            source = _source(node)
            if source is not None and source in graph.inputs and _is_one_bool(source):
                return source.name
    return ""


def _source(node: Node) -> Tensor | None:
    """Return what a condition is, before nodes that leave its value as it is."""
    tensor = node.inputs[0] if node.inputs else None
    while tensor is not None and tensor.inputs and tensor.inputs[0].op in CARRIES_FIRST:
        tensor = tensor.inputs[0].inputs[0]
    return tensor


def _is_one_bool(tensor: Tensor) -> bool:
    if not isinstance(tensor, Variable) or tensor.elem_type != TensorProto.BOOL:
        return False
    return tensor.shape is not None and all(size == 1 for size in tensor.shape)
