"""Two nodes with one output name, which ONNX forbids: the last one counts, as in onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import graphfix
from graphfix.report import Verdict


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2)])
def test_the_last_definition_counts(order: tuple[int, int, int]) -> None:
    twelve, two = (
        helper.make_node(
            "Constant", [], ["k"], value=numpy_helper.from_array(np.array(value, np.float32))
        )
        for value in (12, 2)
    )
    nodes = [twelve, two, helper.make_node("Div", ["x", "k"], ["y"])]
    graph = helper.make_graph(
        [nodes[i] for i in order],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    result = graphfix.run(model, target="trt8")
    proto = result.model.to_proto()
    onnx.checker.check_model(proto)  # pyright: ignore[reportUnknownMemberType]
    assert result.report.verification.status is Verdict.EQUAL
    (left,) = proto.graph.initializer
    expected = 12 if order.index(0) > order.index(1) else 2
    assert numpy_helper.to_array(left) == expected
