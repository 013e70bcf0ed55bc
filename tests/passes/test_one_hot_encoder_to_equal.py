"""one-hot-encoder-to-equal: numbers compared with categories."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "one-hot-encoder-to-equal"
ML = ', "ai.onnx.ml" : 1'
BODY = "@y = ai.onnx.ml.OneHotEncoder <cats_int64s = [1, 2, -5]> (x)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_known_and_unknown_categories(dtype: str, place: str) -> None:
    name = "float" if dtype == "float32" else dtype
    text = written(BODY, f"{name}[2, 2] x", "float[2, 2, 3]", place=place, imports=ML)
    feed: dict[str, Any] = {"x": np.array([[1, -5], [7, 2]], dtype)}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-6, 3), min_size=1, max_size=5))
def test_any_numbers(values: list[int]) -> None:
    text = written(BODY, "int64[N] x", "float[N, 3]", imports=ML)
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values)}])
