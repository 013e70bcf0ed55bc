"""scatterelements-by-matching: indices compared with positions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
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


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("opset", [16, 18])
def test_reductions_of_equal_indices(opset: int, reduction: str) -> None:
    if opset == 16 and reduction in ("max", "min"):
        pytest.skip("max and min came with opset 18")
    same = feed(3)
    same["i"] = np.array([[1, 1, 1], [4, -1, 2], [0, 2, 0]])
    model = text(3, f', reduction = "{reduction}"', opset=opset)
    assert_rewrite(PASS, model, feeds=[same], rtol=1e-6, atol=1e-6)


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
