"""is-nan-to-comparisons: what is neither below 1 nor above -1."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "is-nan-to-comparisons"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 11, 13, 17, 20])
def test_only_nan(opset: int, place: str) -> None:
    if place == "function" and opset < 11:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written("@y = IsNaN (x)", "float[N] x", "bool[N]", opset=opset, place=place)
    values = np.array([0, -0.0, 1, -1, 0.5, 1e38, np.inf, -np.inf, np.nan, -np.nan], np.float32)
    feed: dict[str, Any] = {"x": values}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert sorted(done.ops) == ["Greater", "Greater", "Not", "Or"]


@given(st.lists(st.floats(width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = IsNaN (x)", "float[N] x", "bool[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.float32)}])
