"""constants-of-equal-rank: axes of size 1 before those of constants."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "constants-of-equal-rank"
X = np.arange(-12, 12, dtype=np.float32).reshape(2, 3, 4) + 0.5
CONSTANT = "@k = Constant <value = float[3,1] {4.0, 5.0, -6.0}> ()\n"
SHAPE = "float[2,3,4]"


def fed(place: str, **arrays: Any) -> dict[str, Any]:
    return {**arrays, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
def test_a_first_operand(op: str, place: str) -> None:
    text = written(f"{CONSTANT}@y = {op} (@k, x)", f"{SHAPE} x", SHAPE, place=place)
    done = assert_rewrite(PASS, text, feeds=[fed(place, x=X)])
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == [op]


def test_choice_by_a_constant() -> None:
    constant = "@m = Constant <value = bool[3,1] {1, 0, 1}> ()\n"
    text = written(f"{constant}@y = Where (@m, x, z)", f"{SHAPE} x, {SHAPE} z", SHAPE, opset=16)
    done = assert_rewrite(PASS, text, feeds=[{"x": X, "z": -X}])
    found = outputs_of(done.after, {"x": X, "z": -X})["y"]
    np.testing.assert_array_equal(found[:, 1], -X[:, 1])
    np.testing.assert_array_equal(found[:, ::2], X[:, ::2])
