"""celu-to-elu: both parts written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "celu-to-elu"
X = np.array([-7.5, -3, -1, -1e-3, 0, 1e-3, 1, 3, 7.5, 50], np.float32)


def reference(x: np.ndarray[Any, Any], alpha: float = 1.0) -> np.ndarray[Any, Any]:
    wide = x.astype(np.float64)
    return np.asarray(np.maximum(wide, 0) + np.minimum(0, alpha * np.expm1(wide / alpha)))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [12, 17, 21])
def test_values(opset: int, place: str) -> None:
    text = written("@y = Celu (x)", "float[N] x", "float[N]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": X}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    result = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(result, reference(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_another_slope(alpha: float) -> None:
    text = written(f"@y = Celu <alpha = {alpha}> (x)", "float[N] x", "float[N]")
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], rtol=1e-5, atol=1e-6)
    result = outputs_of(done.after, {"x": X})["y"]
    np.testing.assert_allclose(result, reference(X, alpha), rtol=1e-5, atol=1e-6)


def test_not_a_number_stays_one() -> None:
    feed = {"x": np.array([np.nan, np.inf, -np.inf], np.float32)}
    done = assert_rewrite(PASS, written("@y = Celu (x)", "float[N] x", "float[N]"), feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], [np.nan, np.inf, -1])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = Celu (x)", "float[N] x", "float[N]", opset=12)
    feed = {"x": np.array(values, np.float32)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-5)


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
