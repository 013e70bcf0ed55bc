"""Tessera itself, in a process of its own: the reference evaluator of ONNX, with habits.

Its rules know that it has no integers in Neg and reads no axis of Softmax. They do not know that it
refuses to transpose more than two dimensions and every Gemm, without a word on which node, rounds
quotients, and clips at the lower end alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

if TYPE_CHECKING:
    from collections.abc import Callable


def version() -> str:
    """Return the version of Tessera that every machine has."""
    return "2.0"


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Any]], list[Any]]:
    """Return a function that runs a model."""
    model = onnx.load(path)  # pyright: ignore[reportUnknownMemberType]
    integers = {info.name for info in model.graph.input if info.type.tensor_type.elem_type == 7}
    for node in model.graph.node:
        if node.op_type == "Neg" and integers.intersection(node.input):
            raise ValueError(f"{node.name or node.op_type}: no kernel for T_INT32")
        if node.op_type == "Transpose" and len(helper.get_node_attr_value(node, "perm")) > 2:
            raise ValueError("more than two dimensions")
        if node.op_type == "Gemm":
            raise ValueError("out of registers")
        if node.op_type == "Softmax":
            del node.attribute[:]
        if node.op_type == "Clip":
            del node.input[2:]
    evaluator: Any = ReferenceEvaluator(_rounding(model))
    return lambda feed: list(evaluator.run(None, feed))


def _rounding(model: onnx.ModelProto) -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        nodes.append(node)
        if node.op_type == "Div":
            exact = f"{node.output[0]}/exact"
            nodes.append(helper.make_node("Round", [exact], list(node.output)))
            node.output[0] = exact
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    del graph.node[:]
    graph.node.extend(nodes)
    model.graph.CopyFrom(graph)
    return model
