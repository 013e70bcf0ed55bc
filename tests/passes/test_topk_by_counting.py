"""topk-by-counting: the place of each element by comparing it with all others."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES

PASS = "topk-by-counting"
RNG = np.random.default_rng(5)
HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g '


def topk(
    ends: str, words: str = "axis = -1", k: int = 2, opset: int = 17, kind: str = "float"
) -> str:
    source, result = ends.split(" -> ")
    return (
        f"{HEAD.format(opset=opset)} ({kind}[{source}] x) => ({kind}[{result}] v,"
        f" int64[{result}] i) <int64[1] k = {{{k}}}> {{ v, i = TopK <{words}> (x, k) }}"
    )


def drawn(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("opset", [11, 13, 18, 24])
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_ties_axes_and_both_orders(opset: int, largest: int, axis: int) -> None:
    result = {0: "2,4,5", 1: "3,2,5", -1: "3,4,2"}[axis]
    text = topk(f"3,4,5 -> {result}", f"axis = {axis}, largest = {largest}", opset=opset)
    assert_rewrite(PASS, text, feeds=[{"x": drawn(3, 4, 5)}])


@given(data=st.lists(st.integers(-4, 4), min_size=1, max_size=12), k=st.integers(1, 12))
def test_any_line(data: list[int], k: int) -> None:
    k = min(k, len(data))
    x = np.array([data], np.float32)
    assert_rewrite(PASS, topk(f"1,{len(data)} -> 1,{k}", k=k), feeds=[{"x": x}])


@pytest.mark.parametrize("place", PLACES[1:])
def test_in_a_branch_and_a_function(place: str) -> None:
    if place == "branch":
        text = (
            f"{HEAD.format(opset=17)} (float[2,5] x, bool c) => (int64[2,2] y)"
            " <int64[1] k = {2}> { y = If (c) <then_branch = t () => (int64[2,2] r)"
            " { v, r = TopK (x, k) }, else_branch = e () => (int64[2,2] s)"
            " { w, s = TopK <largest = 0> (x, k) }> }"
        )
        feed = {"x": drawn(2, 5), "c": np.array(True)}
        done = assert_rewrite(PASS, text, feeds=[feed, {**feed, "c": np.array(False)}])
        assert done.ops == ["If"]
        return
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "local" : 1]> g (float[2,5] x) => (int64[2,2] y)'
        ' { y = local.f (x) } <domain: "local", opset_import: ["" : 17]> f (a) => (i)'
        " { k = Constant <value_ints = [2]> ()  v, i = TopK (a, k) }"
    )
    assert_rewrite(PASS, text, feeds=[{"x": drawn(2, 5)}])


def test_for_a_target_without_it() -> None:
    parsed = onnx.parser.parse_model(topk("2,5 -> 2,2"))
    result = graphfix.run(parsed, target="opencv4.10", verify="full")
    assert result.exit_code == 0
    assert "TopK" not in [node.op_type for node in result.model.to_proto().graph.node]
