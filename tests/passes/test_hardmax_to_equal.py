"""hardmax-to-equal: the first largest element along an axis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
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


@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("opset", [7, 11])
def test_below_opset_13_axes_are_joined(opset: int, axis: int) -> None:
    body = f"@y = Hardmax <axis = {axis}> (x)"
    text = written(body, "float[2, 3, 2] x", "float[2, 3, 2]", opset=opset)
    x = np.array([[[1, 5], [5, 2], [0, 3]], [[7, 7], [7, 9], [9, 0]]], np.float32)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    assert outputs_of(done.after, {"x": x})["y"].sum() == (1 if axis == 0 else 2)
