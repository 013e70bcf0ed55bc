"""Models of one node with constant inputs, for the tests of constant folding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from graphfix.analysis.folding.known_values import Knowledge
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.testing import outputs_of

Array = np.ndarray[Any, Any]


def one_node(
    op: str,
    inputs: Sequence[Array | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    opset: int = 18,
    outputs: int = 1,
) -> onnx.ModelProto:
    """Return a model without inputs whose only node has constant operands."""
    names = ["" if value is None else f"i{index}" for index, value in enumerate(inputs)]
    results = [f"o{index}" for index in range(outputs)]
    constants = [
        numpy_helper.from_array(value, name)
        for value, name in zip(inputs, names, strict=True)
        if value is not None
    ]
    node = helper.make_node(op, names, results, **dict(attributes or {}))
    graph = helper.make_graph(
        [node], "g", [], [onnx.ValueInfoProto(name=name) for name in results], constants
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def known_outputs(model: onnx.ModelProto) -> tuple[Array | None, ...]:
    """Return what is known of the outputs of the only node; empty for nothing."""
    loaded = Model(model)
    return Knowledge(1 << 20).learn(NodeView(loaded.graph.nodes[0]))


def engine_outputs(model: onnx.ModelProto) -> list[Array]:
    """Return what onnxruntime computes."""
    inferred = onnx.shape_inference.infer_shapes(model)
    return [np.asarray(value) for value in outputs_of(inferred, {}).values()]
