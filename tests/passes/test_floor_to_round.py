"""floor-to-round: the nearest integer, corrected by a comparison."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "floor-to-round"
OPS = ["Floor", "Ceil"]


@pytest.mark.parametrize("op", OPS)
@given(st.lists(st.floats(), min_size=1, max_size=6))
def test_any_numbers(op: str, values: list[float]) -> None:
    text = written(f"@y = {op} (x)", "double[N] x", "double[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values)}])


@pytest.mark.parametrize(
    ("op", "numbers", "signs"),
    [
        ("Floor", [0.0, -0.0, 0.25], [False, True, False]),
        ("Ceil", [0.0, -0.0, -0.25, -0.5], [False, True, True, True]),
    ],
)
def test_a_zero_keeps_its_sign(op: str, numbers: list[float], signs: list[bool]) -> None:
    text = written(f"@y = {op} (x)", "double[N] x", "double[N]")
    feed: dict[str, Any] = {"x": np.array(numbers)}
    found = outputs_of(assert_rewrite(PASS, text, feeds=[feed]).after, feed)["y"]
    assert np.signbit(found).tolist() == signs


@pytest.mark.parametrize(("release", "used"), [("1.10", True), ("1.13", True), ("1.14", False)])
@pytest.mark.parametrize("op", OPS)
def test_a_release_without_the_kernel_gets_round(op: str, release: str, used: bool) -> None:
    text = written(f"@y = {op} (x)", "double[N] x", "double[N]", opset=13)
    result: Any = graphfix.run(onnx.parser.parse_model(text), f"ort-{release}", verify="full")
    assert result.exit_code == 0
    assert ("Round" in [n.op_type for n in result.model.to_proto().graph.node]) is used


def test_images_sampled_at_coordinates_of_float64_reach_an_old_release() -> None:
    text = written(
        "@y = GridSample <align_corners = 0> (x, g)",
        "float[1, 2, 5, 6] x, double[1, 3, 4, 2] g",
        "float[1, 2, 3, 4]",
        opset=16,
    )
    result: Any = graphfix.run(onnx.parser.parse_model(text), "ort-1.10", verify="full")
    assert result.exit_code == 0
    ops = [n.op_type for n in result.model.to_proto().graph.node]
    assert "GridSample" not in ops
    assert "Floor" not in ops
