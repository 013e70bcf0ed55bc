"""array-feature-extractor-to-gather: columns picked."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "array-feature-extractor-to-gather"
ML = ', "ai.onnx.ml" : 1, "custom" : 1'
BODY = "@y = ai.onnx.ml.ArrayFeatureExtractor (x, i)"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_any_columns(columns: list[int]) -> None:
    text = written(BODY, "int64[N, 4] x, int64[1, M] i", "int64[N, M]", imports=ML)
    feed = {"x": np.arange(8).reshape(2, 4), "i": np.array([columns])}
    assert_rewrite(PASS, text, feeds=[feed])
