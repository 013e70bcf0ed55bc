"""What onnx2tf makes of bytes is written out as floats."""

from __future__ import annotations

import pytest

from graphfix import run
from tests.engines.cases import No, Yes, assert_no, assert_yes, model_of

TARGET = "tflite1.29"
ROUNDED = (
    "(float[1,4,9] x) => (float[1,4,9] y) <float s = {0.02}, uint8 z = {3}>"
    " { q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) y = Relu (d) }"
)
STORED = (
    "(float[2,4] x) => (float[2,3] y) <float[4,3] f = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},"
    " float s = {0.5}, int32[3] b = {10, -20, THIRD}, int32 z = {0}>"
    " { w = DequantizeLinear (b, s, z) y = Gemm (x, f, w) }"
)
PRODUCT = (
    "(float[2,3] x) => (float[2,2] y) <float s = {0.5}, int8 z = {0},"
    " int8[3,2] w = {1,-2,3,4,-5,6}>"
    " { c = Cast <to = 3> (x) q = QLinearMatMul (c, s, z, w, s, z, s, z) READ }"
)


def test_bytes_that_are_numbers() -> None:
    feature = "op:QLinearMatMul"
    read = PRODUCT.replace("READ", "y = Cast <to = 1> (q)")
    assert_yes(Yes(read, "bytes-that-are-numbers", feature, "wrong", "", TARGET))
    right = PRODUCT.replace("READ", "y = DequantizeLinear (q, s, z)")
    assert_no(No(right, "bytes-that-are-numbers", TARGET))
    assert run(model_of(read), TARGET, trust_rules=True).exit_code == 0


@pytest.mark.parametrize("text", [ROUNDED, STORED.replace("THIRD", "30")])
def test_they_are_written_out(text: str) -> None:
    result = run(model_of(text), TARGET, trust_rules=True)
    assert result.exit_code == 0
    assert result.model is not None
    operators = {node.op_type for node in result.model.to_proto().graph.node}
    assert not operators & {"QuantizeLinear", "DequantizeLinear"}
