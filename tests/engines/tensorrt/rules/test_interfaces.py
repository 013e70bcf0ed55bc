from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(uint16[2] x) => (float[2] y) { y = Cast <to = 1> (x) }",
        "input-type",
        "io:uint16-input",
        "reject",
        "Failed to convert ONNX date type",
    ),
    Yes(
        "(uint8[2] x) => (float[2] y) { y = Cast <to = 1> (x) }",
        "input-type",
        "io:uint8-input",
        "reject",
        "Failed to convert",
        "trt8.4",
    ),
    Yes(
        "(float[2] x) => (uint16[2] y) { y = Cast <to = 4> (x) }",
        "output-type",
        "io:uint16-output",
        "reject",
        "output_trt_dtype",
    ),
    Yes(
        "(float[2] x) => (float[2] y) <bfloat16[2] w = {1, 2}> { z = Cast <to = 1> (w) y = "
        "Add (x, z) }",
        "initializer-type",
        "dtype:bfloat16",
        "reject",
        "Failed to import initializer",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Relu (x) }",
        "opset-too-high",
        "opset:too-high",
        "note",
        "",
        "trt8.0",
    ),
    Yes(
        "(float[1,1,1,1,1,1,1,1,1] x) => (float[1] y) { y = Relu (x) }",
        "input-rank",
        "rank:input.9",
        "reject",
        "convertOnnxDims",
    ),
]
NO = [
    No(
        "(uint8[2] x) => (float[2] y) { y = Cast <to = 1> (x) }",
        "input-type",
    ),
    No(
        "(int64[2] x) => (int64[2] y) { y = Add (x, x) }",
        "output-type",
    ),
    No(
        "(float[2] x) => (float[2] y) { y = Relu (x) }",
        "opset-too-high",
    ),
    No(
        "(float[2] x) => (float[2] y) <double[2] w = {1, 2}> { z = Cast <to = 1> (w) y = "
        "Add (x, z) }",
        "initializer-type",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
