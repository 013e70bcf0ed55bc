"""comparison-of-expanded: the first operand gets the sizes of both."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "comparison-of-expanded"
X = np.array([[-1.0], [0.0], [np.nan], [np.inf], [2.0], [-0.0]], np.float32)
Z = np.array([[0.0, np.inf, -1.0, np.nan]], np.float32)


@pytest.mark.parametrize("op", ["Equal", "Greater", "Less"])
@pytest.mark.parametrize("opset", [11, 13, 17])
def test_each_against_each(opset: int, op: str) -> None:
    text = written(f"@y = {op} (x, z)", "float[6,1] x, float[1,4] z", "bool[6,4]", opset=opset)
    assert_rewrite(PASS, text, feeds=[{"x": X, "z": Z}], after=["Expand", op])


@pytest.mark.parametrize("op", ["GreaterOrEqual", "LessOrEqual"])
def test_with_equal_ones(op: str) -> None:
    text = written(f"@y = {op} (x, z)", "float[6,1] x, float[4] z", "bool[6,4]")
    assert_rewrite(PASS, text, feeds=[{"x": X, "z": Z[0]}], after=["Expand", op])


@pytest.mark.parametrize("place", PLACES)
def test_places(place: str) -> None:
    text = written("@y = Less (x, z)", "float[6,1] x, float[1,4] z", "bool[6,4]", place=place)
    feed = {"x": X, "z": Z} | ({"c": np.array(True)} if place == "branch" else {})
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("sizes", ["4", "1,4", "6,1", "6,4", "1"])
def test_one_broadcast_operand_is_left(sizes: str) -> None:
    text = written("@y = Less (x, z)", f"float[6,4] x, float[{sizes}] z", "bool[6,4]")
    assert_refused(PASS, text, "that is not so")
