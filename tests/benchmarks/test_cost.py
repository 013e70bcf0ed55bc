"""The benchmark of what repaired networks cost: kinds, limits, the page and what passes cost."""

from __future__ import annotations

import json
from dataclasses import replace

import onnx
import pytest

from benchmarks.speed.cost import COSTS, Row, is_slow, kind_of, nodes_of, page, pass_costs

HEAD = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]> g (float[2, 3] x) => (y) '
ROW = Row("trt8", "net.onnx", "float", 10, 15, before=100.0, after=150.0, passes="one two")
ROWS = [
    ROW,
    replace(ROW, after=300.0, passes="two"),
    replace(ROW, before=10.0, after=50.0, passes="one"),
    replace(ROW, kind="quantized", after=160.0),
    replace(ROW, before=0.0, after=0.0, why="not written"),
]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("{ y = Relu (x) }", "float"),
        ("{ y = ai.onnx.ml.TreeEnsembleRegressor (x) }", "trees"),
        ("<float s = {1}> { q = QuantizeLinear (x, s) y = DequantizeLinear (q, s) }", "quantized"),
        ("{ y = MatMulInteger (x, x) }", "quantized"),
    ],
)
def test_kinds(body: str, kind: str) -> None:
    assert kind_of(onnx.parser.parse_model(HEAD + body)) == kind


def test_nodes_are_those_of_all_graphs_without_constants() -> None:
    branch = "g () => (float z) { z = Constant <value_float = 1.0> () y = Neg (z) }"
    text = "{ c = Constant <value = bool {1}> () y = If (c) <then_branch = A, else_branch = A> }"
    text = text.replace("A", branch)
    assert nodes_of(onnx.parser.parse_model(HEAD + text)) == 3


def test_limits_are_those_of_the_kind_and_of_what_takes_long_enough() -> None:
    assert [is_slow(row) for row in ROWS] == [False, True, False, True, False]


def test_the_page_has_medians_and_what_is_over_the_limit() -> None:
    text = page(ROWS)
    assert "| trt8 | 5 | float | 2 | 2.25 | 3.00 | 1 (of 2) | 1.50 | 5.00 (1) | 5.00 |" in text
    assert "| trt8 | 5 | quantized | 1 | 1.60 | 1.60 | 1 (of 1.5) | 1.50 |  (0) |  |" in text
    over = [line.split(" | ")[2] for line in text.splitlines() if line.startswith("| net.onnx")]
    assert over == ["3.00", "1.60", "5.00"]


def test_what_passes_cost_is_what_the_pages_read() -> None:
    assert json.loads(pass_costs(ROWS)) == {"one": [3, 1.6, 5.0], "two": [3, 1.6, 3.0]}
    known = json.loads(COSTS.read_text(encoding="utf-8"))
    assert all(count > 0 and 0 < usual <= most for count, usual, most in known.values())
