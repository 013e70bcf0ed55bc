"""shape-gather-to-slice: elements of shape vectors by Slice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.shape_models import in_branch, text

PASS = "shape-gather-to-slice"
X = np.zeros((2, 3, 4, 5), np.float32)


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 13, 18])
@pytest.mark.parametrize(("index", "expected"), [(2, 4), (-1, 5), (-4, 2), (0, 2)])
def test_a_scalar_index(opset: int, index: int, expected: int) -> None:
    model = text(
        f"g (float[N,M,K,L] x) => (int64 y) <int64 i = {{{index}}}> "
        "{ s = Shape (x) y = Gather (s, i) }",
        opset,
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Shape", "Slice", "Squeeze"])
    assert int(outputs_of(done.after, {"x": X})["y"]) == expected


def test_runs_of_indices_become_one_slice_each() -> None:
    model = text(
        "g (float[N,M,K,L] x) => (int64[6] y) <int64[6] i = {-2, -1, 0, 1, 2, 1}> "
        "{ s = Shape (x) y = Gather (s, i) }"
    )
    after = ["Shape", "Slice", "Slice", "Slice", "Concat"]
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=after)
    assert outputs_of(done.after, {"x": X})["y"].tolist() == [4, 5, 2, 3, 4, 3]


def test_int32_of_unknown_length() -> None:
    model = text("g (int32[N] s) => (int32[2] y) <int64[2] i = {-1, 1}> { y = Gather (s, i) }")
    feeds = [{"s": np.arange(n, dtype=np.int32)} for n in (2, 5)]
    assert_rewrite(PASS, model, feeds=feeds, after=["Slice", "Slice", "Concat"])


def test_in_a_branch() -> None:
    line = (
        "LOCALs = Shape (x) LOCALi = Constant <value = int64[1] {-1}> () "
        "LOCALr = Gather (LOCALs, LOCALi)"
    )
    feeds = [{"x": X, "c": np.array(flag)} for flag in (True, False)]
    assert_rewrite(PASS, in_branch(line, "float[N,M,K,L]", "int64[1]"), feeds=feeds)


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        ("g (int64[4] s, int64 i) => (int64 y) { y = Gather (s, i) }", "computed at run time"),
        ("g (int64[4] s) => (int64 y) <int64 i = {4}> { y = Gather (s, i) }", "lies outside"),
        ("g (int64[4] s) => (int64 y) <int64 i = {-5}> { y = Gather (s, i) }", "lies outside"),
        (
            "g (int64[4,2] s) => (int64[2] y) <int64 i = {0}> { y = Gather (s, i) }",
            "the data must be a vector; it is not known to be",
        ),
        ("g (float[4] s) => (float y) <int64 i = {0}> { y = Gather (s, i) }", "int32 or int64"),
        (
            "g (int64[4] s) => (int64[1,2] y) <int64[1,2] i = {0, 1}> { y = Gather (s, i) }",
            "the indices must be a scalar or a vector that is not empty; their shape is [1, 2]",
        ),
    ],
)
def test_refusals(graph: str, reason: str) -> None:
    assert_refused(PASS, text(graph), reason)


@given(indices=st.lists(st.integers(-5, 4), min_size=1, max_size=6))
def test_any_indices(indices: list[int]) -> None:
    model = text("g (int64[5] s) => (int64[K] y) <int64[1] i = {0}> { y = Gather (s, i) }")
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(indices), "i"))
    feed = {"s": np.array([3, 1, 4, 1, 5])}
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == feed["s"][indices].tolist()
    assert "Gather" not in done.ops
