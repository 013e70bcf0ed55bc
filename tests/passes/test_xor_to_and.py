"""xor-to-and: one and not both."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "xor-to-and"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [7, 13, 17, 21])
def test_the_table(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        "@y = Xor (a, b)", "bool[2, 1] a, bool[2] b", "bool[2, 2]", opset=opset, place=place
    )
    feed: dict[str, Any] = {"a": np.array([[False], [True]]), "b": np.array([False, True])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == [[False, True], [True, False]]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_any_booleans(pairs: list[tuple[bool, bool]]) -> None:
    text = written("@y = Xor (a, b)", "bool[N] a, bool[N] b", "bool[N]")
    columns = np.array(pairs)
    assert_rewrite(PASS, text, feeds=[{"a": columns[:, 0].copy(), "b": columns[:, 1].copy()}])
