"""array-feature-extractor-to-gather: columns picked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "array-feature-extractor-to-gather"
ML = ', "ai.onnx.ml" : 1, "custom" : 1'
BODY = "@y = ai.onnx.ml.ArrayFeatureExtractor (x, i)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("data", "output"),
    [((4,), "float[1, 2]"), ((3, 4), "float[3, 2]"), ((2, 3, 4), "float[2, 3, 2]")],
)
def test_ranks(data: tuple[int, ...], output: str, place: str) -> None:
    dims = ", ".join(map(str, data))
    text = written(BODY, f"float[{dims}] x, int64[2] i", output, place=place, imports=ML)
    feed: dict[str, Any] = {
        "x": np.arange(np.prod(data), dtype=np.float32).reshape(data),
        "i": np.array([3, 0]),
    }
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_any_columns(columns: list[int]) -> None:
    text = written(BODY, "int64[N, 4] x, int64[1, M] i", "int64[N, M]", imports=ML)
    feed = {"x": np.arange(8).reshape(2, 4), "i": np.array([columns])}
    assert_rewrite(PASS, text, feeds=[feed])
