"""Rules of ONNX Runtime on what releases compute differently, and what becomes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import outputs_of
from tests.engines.cases import model_of

SUM = "(float[2,0,4] x) => (float[2,1,4] y) { y = ReduceSum <axes: ints = [1]> (x) }"
CUT = (
    "(float[2,0,4] x) => (float[2,4] y) { y = ReduceMax <axes: ints = [1], keepdims: int = 0> (x) }"
)
ADJACENT = "(float[2,0,4] x) => (float[2,0,1] y) { y = ReduceMax <axes: ints = [-1]> (x) }"
ONE_HOT = (
    "(float[N] x) => (float[N,5] y) { d = Constant <value_float: float = 5.0> () "
    "v = Constant <value_floats: floats = [0.0, 1.0]> () y = OneHot (x, d, v) }"
)
LENGTHS = (
    "(float[4,4] x) => (float[4,4] y) { n = Constant <value_ints: ints = [0, 2, 3, 4]> () "
    "y = ReverseSequence <batch_axis: int = 0, time_axis: int = 1> (x, n) }"
)
IDLE = "(float[2,3] x) => (float[2,3] y) { y = ReduceSum <noop_with_empty_axes: int = 1> (x) }"
SWISH = "(float[2] x) => (float[2] y) { y = Swish (x) }"
BITS = "(bool[2] x) => (uint8[2] y) { y = BitCast <to: int = 2> (x) }"
NO_BOOLS = (
    "(bool[2,0] x) => (bool[2,1] y) { a = Constant <value_ints: ints = [1]> () "
    "y = ReduceMax (x, a) }"
)


REVERSED = [[0, 1, 2, 3], [5, 4, 6, 7], [10, 9, 8, 11], [15, 14, 13, 12]]
X = np.array([-1.7, 1.7, 0.2, 4.9], np.float32)
REPAIRED: list[tuple[str, int, str, dict[str, Any], Any]] = [
    (SUM, 11, "ort-1.10", {"x": np.zeros((2, 0, 4), np.float32)}, np.zeros((2, 1, 4))),
    (CUT, 11, "ort-1.20", {"x": np.zeros((2, 0, 4), np.float32)}, np.full((2, 4), -np.inf)),
    (ADJACENT, 11, "ort-1.31", {"x": np.zeros((2, 0, 4), np.float32)}, np.zeros((2, 0, 1))),
    (NO_BOOLS, 20, "ort-1.31", {"x": np.zeros((2, 0), bool)}, np.zeros((2, 1), bool)),
    (IDLE, 13, "ort-1.10", {"x": np.ones((2, 3), np.float32)}, np.ones((2, 3))),
    (ONE_HOT, 12, "ort-1.10", {"x": X}, np.eye(5)[[4, 1, 0, 4]]),
    (LENGTHS, 12, "ort-1.10", {"x": np.arange(16, dtype=np.float32).reshape(4, 4)}, REVERSED),
    (SWISH, 26, "ort-1.31", {"x": X[:2]}, X[:2] / (1 + np.exp(-X[:2]))),
    (BITS, 26, "ort-1.31", {"x": np.array([True, False])}, [1, 0]),
]


@pytest.mark.parametrize(
    ("text", "opset", "target", "feed", "wanted"), REPAIRED, ids=lambda v: str(v)[-24:]
)
def test_what_is_found_is_repaired(
    text: str, opset: int, target: str, feed: dict[str, Any], wanted: Any
) -> None:
    result = graphfix.run(model_of(text, opset), target=target, verify="off")
    assert result.report.findings_after == ()
    given = outputs_of(result.model.to_proto(), feed)["y"]
    assert given.shape == np.shape(wanted)
    np.testing.assert_allclose(given, wanted, rtol=1e-6)


def test_products_of_int8_and_floats_of_16_bits_come_down_to_an_old_release() -> None:
    text = (
        "(int8[2,3] a, int8[3,2] b) => (int8[2,2] y) "
        "{ s = Constant <value_float: float = 0.5> () z = Constant <value: tensor = int8 {1}> () "
        "y = QLinearMatMul (a, s, z, b, s, z, s, z) }"
    )
    result = graphfix.run(model_of(text, 13), target="ort-1.10", verify="off")
    assert result.report.findings_after == ()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, size).astype(np.int8) for size in ((2, 3), (3, 2)))
    y = outputs_of(result.model.to_proto(), {"a": a, "b": b})["y"]
    sums = (a.astype(np.int64) - 1) @ (b.astype(np.int64) - 1)
    assert y.tolist() == np.clip(np.round(sums * 0.5) + 1, -128, 127).tolist()
    text = (
        "(float16[3] x) => (uint8[3] y) { c = Constant <value_float: float = 0.5> () "
        "s = Cast <to: int = 10> (c) z = Constant <value: tensor = uint8 {7}> () "
        "y = QuantizeLinear (x, s, z) }"
    )
    result = graphfix.run(model_of(text, 19), target="ort-1.10", verify="off")
    assert result.report.findings_after == ()
    x = np.array([0.75, -1.25, 3], np.float16)
    assert outputs_of(result.model.to_proto(), {"x": x})["y"].tolist() == [9, 5, 13]


SCALED_ROWS = """(float[2, 3] x) => (float[2, n] y) <float s = {0.1}, uint8 z = {0},
    int8[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, float[3] k = {0.1, 1, 10}> {
    q = QuantizeLinear (x, s, z)  d = DequantizeLinear (q, s, z)
    f = DequantizeLinear <axis = 0> (w, k)  y = MatMul (d, f) }"""


def test_scales_of_rows_are_those_of_rows_where_optimizations_join_the_product() -> None:
    x = np.array([[0.5, 1.0, 2.0], [0.0, 0.25, 3.0]], np.float32)
    expected = np.rint(x * 10) / 10 @ (np.arange(1, 10).reshape(3, 3) * [[0.1], [1], [10]])
    result = graphfix.run(model_of(SCALED_ROWS, 17), target="ort-1.32")
    assert result.report.findings_after == ()
    given = outputs_of(result.model.to_proto(), {"x": x})["y"]
    np.testing.assert_allclose(given, expected, rtol=1e-5)
