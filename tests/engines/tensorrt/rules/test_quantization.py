from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(float[2] x) => (uint8[2] y) <float s = {0.5}, uint8 z = {0}> { y = QuantizeLinear "
        "(x, s, z) }",
        "uint8-as-int8",
        "dtype:QuantizeLinear.uint8",
        "wrong",
        target="trt10.1",
    ),
    Yes(
        "(float[2] x) => (uint8[2] y) <float s = {0.5}> { y = QuantizeLinear (x, s) }",
        "uint8-as-int8",
        "dtype:QuantizeLinear.uint8",
        "wrong",
        target="trt10.1",
    ),
    Yes(
        "(float[4,4] x) => (int8[4,4] y) <float[2,2] s = {1, 1, 1, 1}> { y = QuantizeLinear "
        "<output_dtype = 3> (x, s) }",
        "scale-sizes",
        "shape:QuantizeLinear.scale",
        "reject",
        "single blocking dimension",
        "trt10.1",
        21,
    ),
    Yes(
        "(float[4,4] x) => (int8[4,4] y) <float[4,1,1] s = {1, 1, 1, 1}> { y = QuantizeLinear "
        "<output_dtype = 3> (x, s) }",
        "scale-sizes",
        "shape:QuantizeLinear.scale",
        "reject",
        "Invalid rank",
        "trt10.1",
        21,
    ),
    Yes(
        "(float[4] x) => (uint8[4] y) <float s = {1}> { y = QuantizeLinear <output_dtype = 2> "
        "(x, s) }",
        "quantized-output-type",
        "attr:QuantizeLinear.output_dtype=uint8",
        "reject",
        "invalid data type",
        "trt10.1",
        21,
    ),
    Yes(
        "(float[4] x) => (uint8[4] y) <float s = {1}, uint8 z = {0}> { y = QuantizeLinear "
        "<output_dtype = 2> (x, s, z) }",
        "quantized-output-type",
        "attr:QuantizeLinear.output_dtype=uint8",
        "reject",
        "Mismatch",
        "trt10.1",
        21,
    ),
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
]
NO = [
    No(
        "(int4[5] x) => (float[5] y) <float s = {1}> { y = DequantizeLinear (x, s) }",
        "int4-of-odd-size",
        "trt10.1",
        21,
    ),
    No(
        "(float[2] x) => (int8[2] y) <float s = {0.5}> { y = QuantizeLinear <output_dtype = 3> "
        "(x, s) }",
        "uint8-as-int8",
        "trt10.1",
        21,
    ),
    No(
        "(int8[4,4] x) => (float[4,4] y) <float[2,4] s = {1, 1, 1, 1, 1, 1, 1, 1}> "
        "{ y = DequantizeLinear <axis = 0, block_size = 2> (x, s) }",
        "scale-sizes",
        "trt10.1",
        21,
    ),
    No(
        "(float[4] x) => (int8[4] y) <float s = {1}, int8 z = {0}> { y = QuantizeLinear "
        "<output_dtype = 3> (x, s, z) }",
        "quantized-output-type",
        "trt10.1",
        21,
    ),
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
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
