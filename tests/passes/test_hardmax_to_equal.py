"""hardmax-to-equal: the first largest element along an axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "hardmax-to-equal"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [13, 17, 21])
def test_the_first_of_equal_ones(opset: int, place: str) -> None:
    text = written("@y = Hardmax (x)", "float[1, 4] x", "float[1, 4]", opset=opset, place=place)
    feed = {"x": np.array([[1, 3, 3, -2]], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == [[0, 1, 0, 0]]


@given(st.lists(st.integers(-2, 2), min_size=6, max_size=6), st.integers(-2, 1))
def test_every_axis(numbers: list[int], axis: int) -> None:
    text = written(f"@y = Hardmax <axis = {axis}> (x)", "float[2, 3] x", "float[2, 3]")
    x = np.array(numbers, np.float32).reshape(2, 3)
    assert_rewrite(PASS, text, feeds=[{"x": x}])


def test_refuses() -> None:
    text = written("@y = Hardmax (x)", "float[2, N] x", "float[2, N]")
    assert_refused(PASS, text, "the size of x along axis 1 must be known and not 0")
    text = written("@y = Hardmax <axis = 0> (x)", "float[2, 3] x", "float[2, 3]", opset=11)
    assert_refused(PASS, text, "the axis must be the last one below opset 13; it is 0")
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
