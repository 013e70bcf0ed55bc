"""Bytes in OpenCV 5: what is said of them, and what is repaired."""

from __future__ import annotations

import numpy as np
import pytest

import graphfix
from graphfix.report import Verdict
from graphfix.testing import outputs_of
from tests.engines.cases import Unknown, assert_unknown, check, model_of

NEW = "opencv5.0"
BETWEEN = (
    "(float[2,3] x, float[2,3] w) => (float[2,3] y) <float s = {{0.5}}, int8{} z = {{{}}}> "
    "{{ a = QuantizeLinear (x, s, z) b = DequantizeLinear (a, s, z) g = QuantizeLinear (w, s, z)"
    " h = DequantizeLinear (g, s, z) r = {} (b, h) p = QuantizeLinear (r, s, z)"
    " y = DequantizeLinear (p, s, z) }}"
)


def test_an_odd_zero_point_or_one_that_is_not_known_is_possibly_wrong() -> None:
    graph = "(float[2] x) => (int8[2] y) <float s = {0.5}, int8 z = {3}>"
    call = " { y = QuantizeLinear (x, s, z) }"
    halves = "whether values lie halfway between two steps"
    assert_unknown(Unknown(graph + call, "quantize-to-odd-zero", halves, NEW))
    fed = "(float[2] x, int8 z) => (int8[2] y) <float s = {0.5}>" + call
    even = "the zero point, which must be even"
    assert_unknown(Unknown(fed, "quantize-to-odd-zero", even, NEW))
    found = check(model_of(graph.replace("{3}", "{-4}") + call), NEW)
    assert [f.rule for f in found if not f.feature.startswith("io:")] == ["quantize-beyond-int32"]


@pytest.mark.parametrize("op", ["Sub", "Max", "Min"])
def test_what_is_taken_for_another_layer_is_written_out(op: str) -> None:
    result = graphfix.run(model_of(BETWEEN.format("", 4, op)), NEW)
    rules = {f.rule for f in result.report.findings_before if f.severity == "wrong"}
    assert rules == {"dequantize-what-was-misread", "fused-with-quantize"}
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    feed = {
        "x": np.array([[1.5, -2, 3.3], [0.2, 70, -90]], np.float32),
        "w": np.array([[0.6, 2, -1], [8, -90, 3]], np.float32),
    }
    np.testing.assert_array_equal(
        outputs_of(result.model.to_proto(), feed)["y"],
        outputs_of(model_of(BETWEEN.format("", 4, op)), feed)["y"],
    )


@pytest.mark.parametrize("op", ["Add", "Mul"])
def test_sums_and_products_are_right(op: str) -> None:
    assert not [f for f in check(model_of(BETWEEN.format("", 4, op)), NEW) if f.blocks]


def test_a_zero_point_of_another_shape_is_repaired() -> None:
    result = graphfix.run(model_of(BETWEEN.format("[1]", 4, "Add")), NEW)
    rules = {f.rule for f in result.report.findings_before if f.severity == "reject"}
    assert rules == {"dequantize-what-was-misread", "parameters-of-two-shapes"}
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
