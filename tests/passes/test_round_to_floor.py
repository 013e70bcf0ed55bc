"""round-to-floor: halves go to the even neighbour."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "round-to-floor"
VALUES = [0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 2.4, -2.6, 8388609.0, 1e30]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 22])
def test_ties_and_the_rest(opset: int, place: str) -> None:
    text = written("@y = Round (x)", "float[N] x", "float[N]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": np.array([*VALUES, np.inf, -np.inf, np.nan], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


@given(st.lists(st.floats(width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = Round (x)", "float[N] x", "float[N]")
    feeds: list[dict[str, Any]] = [{"x": np.array(values, np.float32)}]
    feeds.append({"x": np.round(np.array(values, np.float32)) / 2})
    assert_rewrite(PASS, text, feeds=feeds)
