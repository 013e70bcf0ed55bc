"""Have onnxruntime add products of uint8 by int8 without saturation.

On x64 CPUs without VNNI its kernels add pairs of such products in 16 bits, so that large operands
give sums that no other machine gives (onnxruntime.ai/docs/performance/model-optimizations/
quantization.html; MlasPlatformU8S8Overflow in onnxruntime/core/mlas/lib/platform.cpp). Products of
uint8 by uint8 are exact everywhere, and moving the second operand and its zero point up by 128
leaves every product what it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from graphfix.analysis.shape_inference import REFUSALS, infer_shapes
from graphfix.ir.inlining import inline
from graphfix.ir.protos import nodes_of_model, subgraphs_of

_CONTRIB = "com.microsoft"


class _Places(NamedTuple):
    """Positions of the operands; first is None where the operator itself makes it uint8."""

    first: int | None
    second: int
    zero: int
    first_zero: int = 0  # bears the type of the first; 0 where it is not always there


_OPERATORS = {
    ("", "MatMulInteger"): _Places(0, 1, 3),
    ("", "ConvInteger"): _Places(0, 1, 3),
    ("", "QLinearMatMul"): _Places(0, 3, 5, 2),
    ("", "QLinearConv"): _Places(0, 3, 5, 2),
    (_CONTRIB, "MatMulIntegerToFloat"): _Places(0, 1, 5),
    (_CONTRIB, "DynamicQuantizeMatMul"): _Places(None, 1, 3),
    (_CONTRIB, "QGemm"): _Places(0, 3, 5, 2),
    (_CONTRIB, "QAttention"): _Places(0, 1, 7),
}


def unsaturated(model: ModelProto) -> ModelProto:
    """Return the model for onnxruntime on this machine, itself where nothing can saturate.

    The types of both operands must be known; functions are inlined where they hold such products.
    """
    if not any(_places(node) for node in nodes_of_model(model)) or not saturates():
        return model
    copy = ModelProto()
    copy.CopyFrom(inline(model) if model.functions else model)
    try:
        typed = infer_shapes(copy)
    except REFUSALS:  # a model that onnxruntime will refuse with a better message
        return model
    _Writer().graph(copy.graph, typed.graph, {})
    return copy


@cache
def saturates() -> bool:
    """Return whether onnxruntime adds 255 * 127 twice to something else on this machine."""
    ort: Any = import_module("onnxruntime")
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    graph = helper.make_graph(
        [node],
        "products",
        [
            helper.make_tensor_value_info("a", TensorProto.UINT8, [1, 4]),
            helper.make_tensor_value_info("b", TensorProto.INT8, [4, 1]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=5)
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {"a": np.full((1, 4), 255, np.uint8), "b": np.full((4, 1), 127, np.int8)}
    return int(session.run(None, feed)[0][0, 0]) != 4 * 255 * 127


def _places(node: NodeProto) -> _Places | None:
    domain = "" if node.domain == "ai.onnx" else node.domain
    return _OPERATORS.get((domain, node.op_type))


def _element_types(graph: GraphProto) -> dict[str, int]:
    infos = (*graph.input, *graph.value_info, *graph.output)
    found = {info.name: info.type.tensor_type.elem_type for info in infos}
    return found | {tensor.name: tensor.data_type for tensor in graph.initializer}


class _Writer:
    """Moves second operands up, in a graph and its subgraphs."""

    def __init__(self) -> None:
        self._count = 0

    def graph(self, graph: GraphProto, typed: GraphProto, outer: Mapping[str, int]) -> None:
        """Rewrite a graph; `typed` is the same graph with inferred types."""
        types = {**outer, **_element_types(typed)}
        nodes: list[NodeProto] = []
        for node, known in zip(graph.node, typed.node, strict=True):
            for body, inferred in zip(subgraphs_of(node), subgraphs_of(known), strict=True):
                self.graph(body, inferred, types)
            places = _places(node)
            if places is not None and _is_mixed(node, places, types):
                nodes.extend(self._move(node, places))
            nodes.append(node)
        del graph.node[:]
        graph.node.extend(nodes)

    def _move(self, node: NodeProto, places: _Places) -> Iterator[NodeProto]:
        self._count += 1
        prefix = f"graphfix_unsaturated_{self._count}_"
        offset = f"{prefix}128"
        made = helper.make_tensor(offset, TensorProto.INT32, [], [128])
        yield helper.make_node("Constant", [], [offset], value=made)
        node.input.extend([""] * (places.zero + 1 - len(node.input)))
        yield from _moved(node.input[places.second], f"{prefix}b", offset)
        node.input[places.second] = f"{prefix}b"
        if node.input[places.zero]:
            yield from _moved(node.input[places.zero], f"{prefix}zero", offset)
        else:
            yield helper.make_node("Cast", [offset], [f"{prefix}zero"], to=TensorProto.UINT8)
        node.input[places.zero] = f"{prefix}zero"


def _is_mixed(node: NodeProto, places: _Places, types: Mapping[str, int]) -> bool:
    first = places.first
    # What onnxruntime's own operators give has no inferred type; its zero point has.
    known = (
        types.get(node.input[place])
        for place in (first, places.first_zero)
        if place is not None and place < len(node.input)
    )
    unsigned = first is None or TensorProto.UINT8 in known
    return unsigned and types.get(node.input[places.second]) == TensorProto.INT8


def _moved(name: str, result: str, offset: str) -> Iterator[NodeProto]:
    """Yield the nodes of `result = uint8 (name + 128)`."""
    yield helper.make_node("Cast", [name], [f"{result}_int32"], to=TensorProto.INT32)
    yield helper.make_node("Add", [f"{result}_int32", offset], [f"{result}_sum"])
    yield helper.make_node("Cast", [f"{result}_sum"], [result], to=TensorProto.UINT8)
