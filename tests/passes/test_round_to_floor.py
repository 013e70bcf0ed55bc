"""round-to-floor: halves go to the even neighbour."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "round-to-floor"


@given(st.lists(st.floats(width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = Round (x)", "float[N] x", "float[N]")
    feeds: list[dict[str, Any]] = [{"x": np.array(values, np.float32)}]
    feeds.append({"x": np.round(np.array(values, np.float32)) / 2})
    assert_rewrite(PASS, text, feeds=feeds)
