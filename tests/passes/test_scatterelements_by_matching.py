"""scatterelements-by-matching: indices compared with positions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "scatterelements-by-matching"
RNG = np.random.default_rng(3)
DATA = RNG.standard_normal((3, 5)).astype(np.float32)


def feed(count: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    index = np.stack([rng.permutation(5)[:count] for _ in range(3)])
    index[0, 0] -= 5
    updates = rng.standard_normal((3, count)).astype(np.float32)
    return {"x": DATA, "i": index, "u": updates}


def text(count: int, attributes: str = "", opset: int = 16, place: str = "main") -> str:
    return written(
        f"@y = ScatterElements <axis = 1{attributes}> (x, i, u)",
        f"float[3, 5] x, int64[3, {count}] i, float[3, {count}] u",
        "float[3, 5]",
        opset=opset,
        place=place,
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_distinct_indices(opset: int, count: int, place: str) -> None:
    given_feed = feed(count)
    if place == "branch":
        given_feed["c"] = np.array(True)
    assert_rewrite(PASS, text(count, opset=opset, place=place), feeds=[given_feed])


def test_the_last_of_two_stays() -> None:
    same = feed(2)
    same["i"] = np.array([[1, 1], [4, -1], [0, 2]])
    assert_rewrite(PASS, text(2), feeds=[same])


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("opset", [16, 18])
def test_reductions_of_equal_indices(opset: int, reduction: str) -> None:
    if opset == 16 and reduction in ("max", "min"):
        pytest.skip("max and min came with opset 18")
    same = feed(3)
    same["i"] = np.array([[1, 1, 1], [4, -1, 2], [0, 2, 0]])
    model = text(3, f', reduction = "{reduction}"', opset=opset)
    assert_rewrite(PASS, model, feeds=[same], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("reduction", ["add", "mul"])
def test_integers_beyond_2_to_the_53_are_combined_to_the_last_digit(
    kind: str, reduction: str
) -> None:
    model = written(
        f'@y = ScatterElements <axis = 1, reduction = "{reduction}"> (x, i, u)',
        f"{kind}[3, 5] x, int64[3, 3] i, {kind}[3, 3] u",
        f"{kind}[3, 5]",
        opset=16,
    )
    high = int(np.iinfo(kind).max)
    numbers = np.resize(np.array([high // 2, 1, 3, high // 3, 7, 2**24 + 1, high], kind), (3, 8))
    given_feed = {
        "x": numbers[:, :5],
        "i": np.array([[1, 1, 1], [4, -1, 2], [0, 2, 0]]),
        "u": numbers[:, 5:],
    }
    assert_rewrite(PASS, model, feeds=[given_feed])


def test_integers_of_opset_9_keep_their_last_digit() -> None:
    model = written(
        "@y = Scatter <axis = 0> (x, i, u)",
        "int64[3] x, int64[2] i, int64[2] u",
        "int64[3]",
        opset=9,
    )
    given_feed = {
        "x": np.array([1, 2, 3]),
        "i": np.array([2, 0]),
        "u": np.array([2**53 + 1, -(2**62) - 1]),
    }
    assert_rewrite(PASS, model, feeds=[given_feed])


def test_opset_9() -> None:
    # Scatter-9; onnxruntime takes distinct indices only for granted.
    model = written(
        "@y = Scatter <axis = 1> (x, i, u)",
        "float[3, 5] x, int64[3, 2] i, float[3, 2] u",
        "float[3, 5]",
        opset=9,
    )
    assert_rewrite(PASS, model, feeds=[feed(2)])


def test_bools() -> None:
    model = written("@y = ScatterElements (x, i, u)", "bool[4] x, int64[2] i, bool[2] u", "bool[4]")
    given_feed = {
        "x": np.array([True, False, False, True]),
        "i": np.array([3, 1]),
        "u": np.array([False, True]),
    }
    assert_rewrite(PASS, model, feeds=[given_feed])


@given(st.lists(st.integers(-4, 3), min_size=1, max_size=5))
def test_any_indices(index: list[int]) -> None:
    count = len(index)
    model = written(
        "@y = ScatterElements (x, i, u)",
        f"int64[4] x, int64[{count}] i, int64[{count}] u",
        "int64[4]",
    )
    given_feed = {"x": np.arange(4), "i": np.array(index), "u": np.arange(count) + 10}
    assert_rewrite(PASS, model, feeds=[given_feed])


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize(("axis", "index"), [(0, "1, B"), (1, "A, 1"), (-1, "A, 1")])
def test_one_index_to_a_line_of_any_size(axis: int, index: str, kind: str, place: str) -> None:
    model = written(
        f"@y = ScatterElements <axis = {axis}> (x, i, u)",
        f"float[A, B] x, {kind}[{index}] i, float[{index}] u",
        "float[A, B]",
        place=place,
    )
    for shape in ((3, 5), (1, 2), (4, 1)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        lines = np.moveaxis(x, axis, -1)
        at = np.arange(len(lines)) % (2 * lines.shape[-1]) - lines.shape[-1]
        wanted = x.copy()
        for number, place_of in enumerate(at):
            np.moveaxis(wanted, axis, -1)[number, place_of] = -1 - number
        column = np.expand_dims(at.astype(kind), axis)
        given_feed: dict[str, Any] = {"x": x, "i": column}
        given_feed["u"] = np.expand_dims(-1 - np.arange(len(at), dtype=np.float32), axis)
        if place == "branch":
            given_feed["c"] = np.array(True)
        done = assert_rewrite(PASS, model, feeds=[given_feed])
        np.testing.assert_array_equal(outputs_of(done.after, given_feed)["y"], wanted)


def test_one_index_to_a_line_that_may_be_another_one_is_refused() -> None:
    model = written(
        "@y = ScatterElements <axis = 1> (x, i, u)",
        "float[A, B] x, int64[C, 1] i, float[C, 1] u",
        "float[A, B]",
    )
    assert_refused(PASS, model, "the index must cover the data along the other axes; it does not")


def test_refuses_a_smaller_index() -> None:
    model = written(
        "@y = ScatterElements <axis = 1> (x, i, u)",
        "float[3, 5] x, int64[2, 2] i, float[2, 2] u",
        "float[3, 5]",
    )
    assert_refused(PASS, model, "the index must cover the data along the other axes; it does not")


def test_refuses_unknown_sizes() -> None:
    model = written(
        "@y = ScatterElements (x, i, u)", "float[N] x, int64[2] i, float[2] u", "float[N]"
    )
    assert_refused(PASS, model, "the sizes of the data and of the index must be known")


def test_leaves_other_operators_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
