"""one-hot-encoder-to-equal: numbers compared with categories."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "one-hot-encoder-to-equal"
ML = ', "ai.onnx.ml" : 1'
BODY = "@y = ai.onnx.ml.OneHotEncoder <cats_int64s = [1, 2, -5]> (x)"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-6, 3), min_size=1, max_size=5))
def test_any_numbers(values: list[int]) -> None:
    text = written(BODY, "int64[N] x", "float[N, 3]", imports=ML)
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values)}])
