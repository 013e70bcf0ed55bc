from __future__ import annotations

import pytest

from tests.rules.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

YES = [
    Yes(
        "(int4[5] x) => (float[5] y) <float s = {1}, int4 z = {0}> "
        "{ y = DequantizeLinear (x, s, z) }",
        "int4-of-odd-size",
        "shape:DequantizeLinear.int4",
        "reject",
        "odd-sized innermost dimension",
        "trt10.1",
        21,
    ),
    Yes(
        "(float[2] x) => (int8[2] y) <float s = {0.5}, int8 z = {3}> { y = QuantizeLinear "
        "(x, s, z) }",
        "zero-point",
        "attr:QuantizeLinear.zero_point",
        "reject",
        "must be all zeros",
    ),
    Yes(
        "(float[2] x) => (uint8[2] y) <float s = {0.5}> { y = QuantizeLinear (x, s) }",
        "zero-point-missing",
        "form:QuantizeLinear.no-zero-point",
        "reject",
        "_M_range_check",
    ),
    Yes(
        "(float[2] x) => (uint8[2] y) <float s = {0.5}, uint8 z = {0}> { y = QuantizeLinear "
        "(x, s, z) }",
        "uint8-as-int8",
        "dtype:QuantizeLinear.uint8",
        "wrong",
    ),
    Yes(
        "(float[2] x) => (int8[2] y) <float s = {-0.5}, int8 z = {0}> { y = QuantizeLinear "
        "(x, s, z) }",
        "scale-positive",
        "attr:QuantizeLinear.scale",
        "reject",
        "must all be positive",
    ),
    Yes(
        "(float[3,2] x) => (int8[3,2] y) <float[2] s = {0.5, 1}, int8[2] z = {0, 0}> { y = "
        "QuantizeLinear <axis = 0> (x, s, z) }",
        "scale-sizes",
        "shape:QuantizeLinear.scale",
        "reject",
        "number of output channels",
    ),
    Yes(
        "(int32[2] x) => (float[2] y) <float s = {0.5}, int32 z = {0}> { y = "
        "DequantizeLinear (x, s, z) }",
        "dequantize-int32",
        "dtype:DequantizeLinear.int32",
        "reject",
        "must be Int8",
    ),
]
NO = [
    No(
        "(float[2] x) => (int8[2] y) <float s = {0.5}, int8 z = {0}> { y = QuantizeLinear "
        "(x, s, z) }",
        "zero-point",
    ),
    No(
        "(float[2] x) => (int8[2] y) <float s = {0.5}, int8 z = {0}> { y = QuantizeLinear "
        "(x, s, z) }",
        "scale-sizes",
    ),
    No(
        "(int8[2] x) => (float[2] y) <float s = {0.5}, int8 z = {0}> { y = DequantizeLinear "
        "(x, s, z) }",
        "dequantize-int32",
    ),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (float[2] y) <float s = {0.5}, int8 z = {0}> { q = my.domain.Op "
        "(x) y = DequantizeLinear (q, s, z) }",
        "dequantize-int32",
        "dtype of q",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_does_not_know(case: Unknown) -> None:
    assert_unknown(case)
