from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(float[2] x) => (int4[2] y) { y = Cast <to = 22> (x) }",
        "cast-target",
        "dtype:Cast.int4",
        "builder",
        target="trt10.1",
        opset=21,
    ),
    Yes(
        "(float[2] x) => (int64 y) { y = Constant <value_int = 3> () }",
        "constant-integers",
        "form:Constant.value_int",
        "wrong",
    ),
    Yes(
        "(float[2] x) => (int64[1] y) { y = Constant <value_ints = [3]> () }",
        "constant-integers",
        "form:Constant.value_ints",
        "wrong",
    ),
    Yes(
        '(float[2] x) => (float[2] y) { c = Constant <value_string = "a"> () y = Relu (x) }',
        "constant-form",
        "form:Constant.value_string",
        "reject",
        "value_strings attributes",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { c = Constant <value = uint16[1] {1}> () y = Relu (x) }",
        "constant-type",
        "dtype:uint16",
        "reject",
        "Unable to convert ONNX weights",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { z = Cast <to = 16> (x) y = Cast <to = 1> (z) }",
        "cast-target",
        "dtype:Cast.bfloat16",
        "reject",
        "Unsupported data type for the Cast operator!",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { z = Cast <to = 2> (x) y = Cast <to = 1> (z) }",
        "uint8-between-nodes",
        "dtype:uint8",
        "reject",
        "UINT8 types for intermediate tensors",
    ),
    Yes(
        "(float[2] x) => (uint8[2] y) { y = Cast <to = 2> (x) }",
        "cast-target",
        "dtype:Cast.uint8",
        "reject",
        "Unsupported data type",
        "trt8.4",
    ),
]
NO = [
    No(
        "(float[2] x) => (int64 y) { y = Constant <value_int = 3> () }",
        "constant-integers",
        "trt9.3",
    ),
    No(
        "(float[2] x) => (float[1] y) { y = Constant <value_floats = [3.0]> () }",
        "constant-form",
    ),
    No(
        "(float[2] x) => (float[2] y) { z = Cast <to = 16> (x) y = Cast <to = 1> (z) }",
        "cast-target",
        "trt9.3",
    ),
    No(
        "(float[2] x) => (uint8[2] y) { y = Cast <to = 2> (x) }",
        "uint8-between-nodes",
    ),
    No(
        "(float[2] x) => (float[2] y) <float s = {0.5}, uint8 z = {0}> { q = QuantizeLinear "
        "(x, s, z) y = DequantizeLinear (q, s, z) }",
        "uint8-between-nodes",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
