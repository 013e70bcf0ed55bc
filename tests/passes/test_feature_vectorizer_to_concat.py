"""feature-vectorizer-to-concat: features side by side."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "feature-vectorizer-to-concat"
ML = ', "ai.onnx.ml" : 1'


@pytest.mark.parametrize("place", PLACES)
def test_matrices_and_higher_ranks(place: str) -> None:
    text = written(
        "@y = ai.onnx.ml.FeatureVectorizer <inputdimensions = [2, 6]> (a, b)",
        "float[3, 2] a, float[3, 2, 3] b",
        "float[3, 8]",
        place=place,
        imports=ML,
    )
    feed: dict[str, Any] = {
        "a": np.arange(6, dtype=np.float32).reshape(3, 2),
        "b": np.arange(18, dtype=np.float32).reshape(3, 2, 3),
    }
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


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


def test_refuses_what_would_be_filled() -> None:
    text = written(
        "@y = ai.onnx.ml.FeatureVectorizer <inputdimensions = [3]> (a)",
        "float[1, 2] a",
        "float[1, 3]",
        imports=ML,
    )
    assert_refused(PASS, text, "a must have 3 features for certain")


def test_leaves_other_operators_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
