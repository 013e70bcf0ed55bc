"""vectors-as-rows: vectors as matrices of one row."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "vectors-as-rows"
X = np.array([1, -2, 0.5], np.float32)
CONSTANT = "@k = Constant <value = float[3] {4.0, 5.0, -6.0}> ()\n"


def fed(place: str, **arrays: Any) -> dict[str, Any]:
    return {**arrays, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Less", "Pow"])
def test_beside_a_constant(op: str, place: str) -> None:
    result = "bool[3]" if op == "Less" else "float[3]"
    text = written(f"{CONSTANT}@y = {op} (x, @k)", "float[3] x", result, place=place)
    done = assert_rewrite(PASS, text, feeds=[fed(place, x=X)])
    if place == "main":
        assert [o for o in done.ops if o != "Constant"] == ["Unsqueeze", op, "Squeeze"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("axis", "shape"), [(0, (4, 2)), (-1, (3, 4))])
def test_indices(axis: int, shape: tuple[int, int], place: str) -> None:
    text = written(
        f"@y = Gather <axis = {axis}> (d, x)", "float[3,2] d, int64[4] x", "float[A,B]", place=place
    )
    feed = fed(place, d=np.arange(6, dtype=np.float32).reshape(3, 2), x=np.array([1, 0, -1, 1]))
    done = assert_rewrite(PASS, text, feeds=[feed])
    found = outputs_of(done.after, feed)["y"]
    assert found.shape == shape
    np.testing.assert_array_equal(found, np.take(feed["d"], feed["x"], axis))


@pytest.mark.parametrize("place", PLACES)
def test_joined(place: str) -> None:
    text = written(
        f"{CONSTANT}@y = Concat <axis = 0> (x, @k, x)", "float[N] x", "float[M]", place=place
    )
    done = assert_rewrite(PASS, text, feeds=[fed(place, x=X)])
    found = outputs_of(done.after, fed(place, x=X))["y"]
    np.testing.assert_array_equal(found, [1, -2, 0.5, 4, 5, -6, 1, -2, 0.5])
