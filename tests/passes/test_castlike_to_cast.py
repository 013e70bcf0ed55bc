"""castlike-to-cast: the type is explicit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "castlike-to-cast"
BODY = "@y = CastLike (x, like)"
TYPES = {"float": np.float32, "float16": np.float16, "double": np.float64, "int32": np.int32}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [15, 17, 19, 21])
def test_float_to_int64(place: str, opset: int) -> None:
    text = written(BODY, "float[N] x, int64 like", "int64[N]", opset=opset, place=place)
    feed = {"x": np.array([1.5, -2.7, 0], np.float32), "like": np.array(1)}
    feeds = [feed if place != "branch" else {**feed, "c": np.array(c)} for c in (True, False)]
    done = assert_rewrite(PASS, text, feeds=feeds)
    assert outputs_of(done.after, feeds[0])["y"].tolist() == [1, -2, 0]


@given(st.sampled_from(sorted(TYPES)), st.sampled_from(sorted(TYPES)))
def test_any_pair_of_types(source: str, wanted: str) -> None:
    text = written(BODY, f"{source}[3] x, {wanted}[2] like", f"{wanted}[3]")
    x = np.array([-3, 0, 100], TYPES[source])
    done = assert_rewrite(PASS, text, feeds=[{"x": x, "like": np.ones(2, TYPES[wanted])}])
    assert "CastLike" not in done.ops
