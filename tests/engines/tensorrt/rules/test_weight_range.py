"""What becomes of numbers that the type which the engine gives a tensor does not hold."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import graphfix
from tests.engines.cases import check


@pytest.mark.parametrize(("number", "wanted"), [(-np.inf, 1), (1e300, 1), (3e38, 0), (np.nan, 0)])
@pytest.mark.parametrize("target", ["trt8.0", "trt8.6", "trt10.1"])
def test_doubles_beyond_float32(target: str, number: float, wanted: int) -> None:
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "c"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [3])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [3])],
        [numpy_helper.from_array(np.array([0.0, number, 1.0]), "c")],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=onnx.IR_VERSION_2023_5_5
    )
    found = [f for f in check(model, target) if f.rule == "doubles-clamped"]
    assert [str(f.severity) for f in found] == ["wrong"] * wanted
    assert all(f.feature == "dtype:float64-beyond-float32" for f in found)


def test_four_bits_that_are_declared_as_int64_are_not_compared_with_int32() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 19]> g (float[2] x) => (float[2] y) '
        "<int64[2] c> { c = Constant <value = int4[2] {1, 2}> () y = Reshape (x, c) }"
    )
    found = graphfix.check(model, "trt8.6")
    assert "weights-clamped" not in {finding.rule for finding in found}
