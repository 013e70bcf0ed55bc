"""if-to-where: both branches computed, and one of the results chosen."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite

PASS = "if-to-where"
X = np.array([[-1.0, 2.0, np.nan], [np.inf, -0.0, 5.0]], np.float32)


def model(
    then: str, other: str, *, kind: str = "float[2,3]", condition: str = "bool", opset: int = 17
) -> str:
    """Return a graph with an If; `then` and `other` give `a` and `b` of `kind`."""
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[2,3] x, {condition} c, int64[1] i)'
        f" => ({kind} y) {{ y = If (c) <then_branch = t () => ({kind} a) {{ {then} }},"
        f" else_branch = e () => ({kind} b) {{ {other} }}> }}"
    )


def feeds(shape: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    return [{"x": X, "c": np.full(shape, taken), "i": np.array([1])} for taken in (True, False)]


@pytest.mark.parametrize("opset", [9, 13, 17, 21])
def test_either_branch(opset: int) -> None:
    text = model("a = Relu (x)", "n = Neg (x) b = Add (n, x)", opset=opset)
    after = ["Relu", "Neg", "Add", "Where"]
    assert_rewrite(PASS, text, feeds=feeds(), after=after)


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_a_condition_with_axes(shape: tuple[int, ...]) -> None:
    condition = f"bool[{','.join('1' for _ in shape)}]"
    text = model("a = Relu (x)", "b = Neg (x)", condition=condition)
    assert_rewrite(PASS, text, feeds=feeds(shape))


@given(values=st.lists(st.floats(width=32), min_size=6, max_size=6), taken=st.booleans())
def test_any_numbers(values: list[float], taken: bool) -> None:
    x = np.array(values, np.float32).reshape(2, 3)
    text = model("a = Relu (x)", "b = Sqrt (x)")
    assert_rewrite(PASS, text, feeds=[{"x": x, "c": np.array(taken), "i": np.array([0])}])


def test_for_a_target_without_control_flow() -> None:
    parsed = onnx.parser.parse_model(model("a = Add (x, x)", "b = Sub (x, x)"))
    result = graphfix.run(parsed, target="opencv4.10", verify="full")
    assert "If" not in [node.op_type for node in result.model.to_proto().graph.node]


@pytest.mark.parametrize("opset", [7, 8])
@pytest.mark.parametrize("condition", ["bool", "bool[1]"])
def test_below_opset_9_one_of_both_is_gathered(condition: str, opset: int) -> None:
    text = model("a = Relu (x)", "n = Neg (x) b = Div (n, x)", condition=condition, opset=opset)
    x = np.array([[0, 1, -2], [np.inf, np.nan, 3]], np.float32)
    feeds = [
        {"x": x, "c": np.array([chosen] if condition == "bool[1]" else chosen), "i": np.array([0])}
        for chosen in (True, False)
    ]
    done = assert_rewrite(PASS, text, feeds=feeds)
    assert "Where" not in done.ops
    assert done.ops[-1] == "Gather"
