"""sequence-at-to-slice: one tensor of a sequence without the sequence."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

Array = np.ndarray[Any, Any]
PASS = "sequence-at-to-slice"


def at(place: int) -> str:
    return f"@i = Constant <value = int64 {{{place}}}> ()\n@y = SequenceAt (@s, @i)"


def check(cut: str, x: Array, index: int, wanted: Array, **more: Any) -> list[str]:
    known = ", ".join(map(str, x.shape))
    text = written(
        cut + "\n" + at(index), f"float[{known}] x", "float" + str(list(wanted.shape)), **more
    )
    feed: dict[str, Any] = {"x": x}
    if more.get("place") == "branch":
        feed["c"] = np.array(False)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    return done.ops


X = np.arange(10, dtype=np.float32).reshape(2, 5)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("place", [0, 3, -1])
def test_unbind(place: int, opset: int, where: str) -> None:
    if where == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    cut = "@s = SplitToSequence <axis = 1, keepdims = 0> (x)"
    ops = check(cut, X, place, X[:, place], opset=opset, place=where)
    if where == "main":
        assert ops == ["Gather"]


def test_pieces_of_length_one_that_keep_the_axis() -> None:
    assert check("@s = SplitToSequence <axis = -1> (x)", X, 2, X[:, 2:3]) == ["Gather"]


@pytest.mark.parametrize(("place", "wanted"), [(0, X[:, :2]), (1, X[:, 2:4]), (-1, X[:, 4:])])
def test_pieces_of_one_length(place: int, wanted: Array) -> None:
    cut = "@k = Constant <value = int64 {2}> ()\n@s = SplitToSequence <axis = 1> (x, @k)"
    assert check(cut, X, place, wanted) == ["Slice"]


def test_pieces_of_given_lengths() -> None:
    cut = "@k = Constant <value = int64[2] {3, 2}> ()\n@s = SplitToSequence <axis = 1> (x, @k)"
    assert check(cut, X, 1, X[:, 3:]) == ["Slice"]


@given(st.data())
def test_any_cut(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    place = data.draw(st.integers(-len(sizes), len(sizes) - 1))
    x = np.arange(2 * sum(sizes), dtype=np.float32).reshape(2, -1)
    listed = "{" + ", ".join(map(str, sizes)) + "}"
    cut = f"@k = Constant <value = int64[{len(sizes)}] {listed}> ()\n"
    start = sum(sizes[: place % len(sizes)])
    wanted = x[:, start : start + sizes[place]]
    check(cut + "@s = SplitToSequence <axis = 1> (x, @k)", x, place, wanted)
