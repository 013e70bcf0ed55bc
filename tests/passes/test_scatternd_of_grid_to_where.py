"""scatternd-of-grid-to-where: grids of indices, one axis after the other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "scatternd-of-grid-to-where"
# The tuples of x[rows, columns] = u, as PyTorch writes them out.
GRID = """
@size = Shape (u)
@three = Constant <value_ints = [3]> ()
@zero = Constant <value_ints = [0]> ()
@two = Constant <value_ints = [2]> ()
@end = Constant <value_ints = [-1]> ()
@one = Constant <value_ints = [1]> ()
@grid = Slice (@size, @zero, @two)
@standing = Unsqueeze (rows, @one)
@down = Expand (@standing, @grid)
@across = Expand (columns, @grid)
@first = Unsqueeze (@down, @end)
@second = Unsqueeze (@across, @end)
@tuples = Concat <axis = -1> (@first, @second)
"""
WRITE = GRID + "@y = ScatterND (x, @tuples, u)"
INPUTS = "float[A, B, 2] x, int64[M] rows, int64[N] columns, float[M, N, 2] u"


def feed(
    rows: list[int], columns: list[int], a: int = 4, b: int = 5, kind: Any = np.float32
) -> dict[str, Any]:
    count = len(rows) * len(columns) * 2
    return {
        "x": np.arange(a * b * 2).reshape(a, b, 2).astype(kind),
        "rows": np.array(rows, np.int64),
        "columns": np.array(columns, np.int64),
        "u": np.arange(100, count + 100).reshape(len(rows), len(columns), 2).astype(kind),
    }


def assigned(feed: dict[str, Any]) -> Any:
    result = feed["x"].copy()
    for i, row in enumerate(feed["rows"]):
        for j, column in enumerate(feed["columns"]):
            result[row, column] = feed["u"][i, j]
    return result


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("opset", [13, 16, 18])
def test_rows_and_columns(opset: int, place: str) -> None:
    text = written(WRITE, INPUTS, "float[A, B, 2]", opset=opset, place=place)
    feeds = [feed([0, 2], [1, 2, 4]), feed([-1], [0, -5], 3, 5), feed([], [1]), feed([1, 0], [])]
    for each in feeds:
        if place == "branch":
            each["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=feeds)
    for each in feeds:
        np.testing.assert_array_equal(outputs_of(done.after, each)["y"], assigned(each))


@given(st.lists(st.integers(-3, 2), max_size=4), st.lists(st.integers(-4, 3), max_size=4))
def test_of_updates_of_one_element_the_last_stays(rows: list[int], columns: list[int]) -> None:
    text = written(WRITE, INPUTS, "float[A, B, 2]")
    each = feed(rows, columns, 3, 4)
    done = assert_rewrite(PASS, text, feeds=[each])
    np.testing.assert_array_equal(outputs_of(done.after, each)["y"], assigned(each))


@pytest.mark.parametrize("kind", ["float16", "double", "int32", "int64", "int8", "uint8", "bool"])
def test_types(kind: str) -> None:
    text = written(WRITE, INPUTS.replace("float", kind), f"{kind}[A, B, 2]")
    dtype = {"double": "float64"}.get(kind, kind)
    assert_rewrite(PASS, text, feeds=[feed([2, 0], [1, 3], 3, 4, np.dtype(dtype))])


def test_a_grid_that_is_expanded_from_one_index_writes_its_last_update() -> None:
    each = feed([1], [2], 3, 4)
    each["u"] = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    inputs = INPUTS.replace("int64[M]", "int64[1]").replace("int64[N]", "int64[1]")
    assert_rewrite(PASS, written(WRITE, inputs, "float[A, B, 2]"), feeds=[each])


@pytest.mark.parametrize("joined", ["(@second, @first)", "(@first, @first)"])
def test_columns_along_other_axes_are_no_grid(joined: str) -> None:
    text = WRITE.replace("(@first, @second)", joined)
    assert_refused(PASS, written(text, INPUTS, "float[A, B, 2]"), "an axis of its own")


@given(st.lists(st.integers(-5, 4), max_size=7))
def test_one_list_of_any_length(slots: list[int]) -> None:
    text = written(
        "@y = ScatterND (x, i, u)", "float[5, 2] x, int64[M, 1] i, float[M, 2] u", "float[5, 2]"
    )
    each: dict[str, Any] = {"x": np.zeros((5, 2), np.float32), "i": np.array(slots).reshape(-1, 1)}
    each["i"] = each["i"].astype(np.int64)
    each["u"] = np.arange(1, 2 * len(slots) + 1, dtype=np.float32).reshape(-1, 2)
    done = assert_rewrite(PASS, text, feeds=[each])
    wanted = each["x"].copy()
    for slot, update in zip(slots, each["u"], strict=True):
        wanted[slot] = update
    np.testing.assert_array_equal(outputs_of(done.after, each)["y"], wanted)


def test_reductions_and_too_many_pairs_are_refused() -> None:
    added = WRITE.replace("ScatterND (", 'ScatterND <reduction = "add"> (')
    assert_refused(PASS, written(added, INPUTS, "float[A, B, 2]"), "the reduction add")
    wide = INPUTS.replace("A, B", "9000, B").replace("[M", "[9000")
    assert_refused(PASS, written(WRITE, wide, "float[9000, B, 2]"), "at most 16777216 pairs")
