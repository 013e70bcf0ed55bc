"""reduce-all-axes-implicit: no axes where all are meant."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "reduce-all-axes-implicit"
OPS = ["ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"]


def body(op: str, axes: str, opset: int, keep: int) -> str:
    if opset < 18 and op != "ReduceSum":
        return f"@y = {op} <axes = [{axes}], keepdims = {keep}> (x)"
    return f"@a = Constant <value_ints = [{axes}]> ()\n@y = {op} <keepdims = {keep}> (x, @a)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("op", [*OPS, "ReduceSum"])
def test_all_axes(op: str, opset: int, place: str) -> None:
    if opset < 13 and (place == "function" or op == "ReduceSum"):
        pytest.skip("local functions, and ReduceSum with axes as an input, came later")
    text = written(body(op, "1, -2", opset, 0), "float[N,3] x", "float", opset=opset, place=place)
    feed: dict[str, Any] = {"x": np.array([[1, -2, 0.5], [3, 0.25, 2]], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], no_small_sides="nothing has no largest number")
    if place == "main":
        node = next(node for node in done.after.graph.node if node.op_type == op)
        assert len(node.input) == 1
        assert [a.name for a in node.attribute] == ["keepdims"]
