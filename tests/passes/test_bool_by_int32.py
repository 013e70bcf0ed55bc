"""bool-by-int32: bools moved and compared as numbers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "bool-by-int32"
MASK = np.array([[True, False, True], [False, False, True]])
INDEX = np.array([1, 0])
CASES = {
    "Gather": ("@y = Gather <axis = 1> (x, i)", "bool[2, 2]"),
    "GatherElements": (
        "@j = Unsqueeze (i, zero)\n@y = GatherElements <axis = 1> (x, @j)",
        "bool[1, 2]",
    ),
    "Concat": ("@y = Concat <axis = 0> (x, x)", "bool[4, 3]"),
    "Equal": ("@z = Not (x)\n@y = Equal (x, @z)", "bool[2, 3]"),
    "Transpose": ("@y = Transpose <perm = [1, 0]> (x)", "bool[3, 2]"),
    "Unsqueeze": ("@y = Unsqueeze (x, zero)", "bool[1, 2, 3]"),
    "Flatten": ("@y = Flatten <axis = 0> (x)", "bool[1, 6]"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", sorted(CASES))
@pytest.mark.parametrize("opset", [13, 18])
def test_moves_bools(opset: int, op: str, place: str) -> None:
    body, output = CASES[op]
    text = written(
        body, "bool[2, 3] x, int64[2] i, int64[1] zero", output, opset=opset, place=place
    )
    feed: dict[str, Any] = {"x": MASK, "i": INDEX, "zero": np.array([0])}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("opset", [9, 16])
def test_where_chooses_between_bools(opset: int) -> None:
    # onnxruntime has no Where of bools, so the result is compared with numpy.
    inputs = "bool[3] c, bool[2, 3] x, bool[2, 1] z"
    text = written("@y = Where (c, x, z)", inputs, "bool[2, 3]", opset=opset)
    done = run_pass(PASS, text)
    assert done.ops == ["Cast", "Cast", "Where", "Cast"]
    feed = {"c": np.array([1, 0, 0], bool), "x": MASK, "z": np.array([[1], [0]], bool)}
    found = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(found, np.where(feed["c"], feed["x"], feed["z"]))


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.data())
def test_any_bools(values: list[bool], data: st.DataObject) -> None:
    index = data.draw(st.lists(st.integers(-len(values), len(values) - 1), max_size=4))
    text = written("@y = Gather (x, i)", "bool[N] x, int64[M] i", "bool[M]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values), "i": np.array(index, np.int64)}])


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
def test_extremes_of_bools_and_of_none(op: str) -> None:
    text = (
        '<ir_version: 9, opset_import: ["" : 20]> g (bool[N, K] x, int64[1] a) => (bool[N] y) '
        f"{{ y = {op} <keepdims = 0> (x, a) }}"
    )
    done = run_pass(PASS, text)
    axes = np.array([1])
    x = np.array([[1, 0], [1, 1], [0, 0]], bool)
    wanted = [True, True, False] if op == "ReduceMax" else [False, True, False]
    assert outputs_of(done.after, {"x": x, "a": axes})["y"].tolist() == wanted
    none = outputs_of(done.after, {"x": np.zeros((2, 0), bool), "a": axes})["y"]
    assert none.tolist() == [op == "ReduceMin"] * 2
