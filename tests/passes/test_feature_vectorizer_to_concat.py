"""feature-vectorizer-to-concat: features side by side."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "feature-vectorizer-to-concat"
ML = ', "ai.onnx.ml" : 1'


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), st.sampled_from(["int64", "float", "double", "int32"]))
def test_vectors_of_any_type(size: int, dtype: str) -> None:
    text = written(
        f"@y = ai.onnx.ml.FeatureVectorizer <inputdimensions = [{size}]> (a)",
        f"{dtype}[{size}] a",
        f"float[1, {size}]",
        imports=ML,
    )
    names = {"float": "float32", "double": "float64"}
    feed = {"a": np.arange(size).astype(names.get(dtype, dtype)) - 1}
    assert_rewrite(PASS, text, feeds=[feed])
