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


@pytest.mark.parametrize("kept", [0, 1])
def test_a_position_computed_at_run_time(kept: int) -> None:
    text = written(
        f"@s = SplitToSequence <axis = 1, keepdims = {kept}> (x)\n@y = SequenceAt (@s, i)",
        "float[N, M] x, int64 i", "float[N, 1]" if kept else "float[N]",
    )  # fmt: skip
    for place in (0, 4, -2):
        assert_rewrite(PASS, text, feeds=[{"x": X, "i": np.array(place)}])


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


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("kind", ["float", "int64", "bool"])
def test_a_computed_position_among_tensors_of_one_shape(kind: str, where: str) -> None:
    body = "@e = SequenceConstruct (x, z)\n@s = SequenceInsert (@e, x)\n@y = SequenceAt (@s, i)"
    text = written(body, f"{kind}[2,3] x, {kind}[2,3] z, int64 i", f"{kind}[2,3]", place=where)
    dtype = {"float": np.float32, "int64": np.int64, "bool": np.bool_}[kind]
    x: Array = np.array([[0, 0, 1], [2, 0, 0]]).astype(dtype)
    z: Array = np.array([[1, 0, 1], [2, 0, 3]]).astype(dtype)
    feeds: list[dict[str, Any]] = [
        {"x": x, "z": z, "i": np.array(place, np.int64)} for place in (0, 1, 2, -1, -2, -3)
    ]
    if where == "branch":
        for feed in feeds:
            feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=feeds)
    assert not {"SequenceAt", "SequenceConstruct", "SequenceInsert"} & set(done.ops)
    if where == "main":
        assert done.ops == ["Unsqueeze", "Unsqueeze", "Unsqueeze", "Concat", "Gather"]
