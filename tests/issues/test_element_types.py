"""Element types that the engine lacks: rows 1, 22, 23, 24, 36, 38 and 39."""

from __future__ import annotations

import numpy as np
import pytest

from tests.issues.rows import Row, check_row, name_of

CONSENT = {"allow_io_change": True}
UINT8 = {"x": np.array([0, 7, 255], np.uint8)}

ROWS = [
    Row(
        "1",
        "trt8.2",
        "(uint8[3] x) => (float[3] y) { f = Cast <to = 1> (x)  y = Relu (f) }",
        "Failed to convert ONNX date type to TensorRT data type.",
        "io:uint8-input",
        ("uint8-input-by-cast",),
        given=CONSENT,
        feeds=UINT8,
    ),
    Row(
        "1",
        "trt8.2",
        "(uint8[3] x) => (float[3] y) { f = Cast <to = 1> (x)  y = Relu (f) }",
        "Failed to convert ONNX date type to TensorRT data type.",
        "io:uint8-input",
        refused="needs --allow-io-change",
    ),
    Row(
        "1",
        "trt8.6",
        "(float[3] x) => (float[3] y) { q = Cast <to = 2> (x)  f = Cast <to = 1> (q)"
        "  y = Relu (f) }",
        'legalUINT8 && "TensorRT does not support UINT8 types for intermediate tensors!"',
        "dtype:uint8",
        ("narrow-integers-to-int32",),
        feeds={"x": np.array([0.5, 7.9, 255], np.float32)},
    ),
    Row(
        "22",
        "trt8.4",
        "(float[3, 4] x) => (float[2, 4] y) <int64[2] i = {2, 0}, float zero = {0}> "
        "{ m = Greater (x, zero)  g = Gather (m, i)  y = Cast <to = 1> (g) }",
        "does not support BOOL input type for the Gather operator.",
        "dtype:Gather.bool",
        ("bool-by-int32",),
    ),
    Row(
        "23",
        "trt8.6",
        "(int32[3] x) => (int32[3] y) { y = Sign (x) }",
        'validUnaryType && "This version of TensorRT does not support the given operator with the '
        'given input data type."',
        "dtype:Sign.int32",
        ("sign-to-comparisons",),
    ),
    Row(
        "24",
        "trt8.4",
        "(float[3] x, float[3] z) => (float[3] y) <float zero = {0}> { a = Greater (x, zero)"
        "  b = Less (z, zero)  e = Equal (a, b)  y = Cast <to = 1> (e) }",
        "Elementwise layer does not support the given inputs and operator",
        "dtype:Equal.bool",
        ("bool-by-int32",),
    ),
    Row(
        "36",
        "trt8.6",
        "(float[6] x, float[2] s) => (float[a, b] y) { i = Cast <to = 7> (s)  y = Reshape (x, i) }",
        "network input that is shape tensor must have type Int32",
        "io:float-shape-input",
        refused="",
    ),
    Row(
        "38",
        "trt8.6",
        "(uint8[3] x) => (uint8[3] y) <uint8[1] k = {2}> "
        '{ y = BitShift <direction = "LEFT"> (x, k) }',
        "No importer registered for op: BitShift.",
        "op:BitShift",
        ("bitshift-to-arithmetic",),
        feeds=UINT8,
    ),
    Row(
        "38",
        "trt8.6",
        "(int64[2] x) => (int64[2] y) <uint64[2] mask_3 = {1, 2}> { u = Cast <to = 13> (x)"
        '  s = BitShift <direction = "RIGHT"> (u, mask_3)  y = Cast <to = 7> (s) }',
        "Found unsupported datatype when importing initializer: mask_3",
        "dtype:uint64",
        refused="the dtype must be one whose numbers int32 holds; it is uint64",
    ),
    Row(
        "39",
        "trt7",
        "(int32[1, 5] x) => (int32[1, 2] y, int64[1, 2] i) <int64[1] k = {2}> "
        "{ y, i = TopK (x, k) }",
        "Assertion failed: tensorPtr->getType() != nvinfer1::DataType::kINT32",
        "dtype:TopK.int32",
        ("topk-of-integers-through-float",),
        opset=11,
        feeds={"x": np.array([[4, -2, 9, 0, 7]], np.int32)},
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_row(row: Row) -> None:
    check_row(row)


def test_wide_integers_are_ranked_approximately_and_said_so() -> None:
    result = check_row(ROWS[-1])
    (site,) = next(o for o in result.report.outcomes if o.pass_id.startswith("topk")).sites
    assert site.accuracy == "approximate"
    assert site.note == "integers beyond 2^24 are rounded before they are ranked"
