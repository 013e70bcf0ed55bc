"""scatterelements-one-by-one: few updates at computed places, one after the other."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "scatterelements-one-by-one"
RNG = np.random.default_rng(5)
FEED = {
    "x": RNG.standard_normal((3, 5)).astype(np.float32),
    "i": np.array([[1, 1, -5], [4, -1, 2], [0, 2, 0]]),
    "u": RNG.standard_normal((3, 3)).astype(np.float32),
}


def text(attributes: str = "", opset: int = 16, place: str = "main", op: str = "Elements") -> str:
    return written(
        f"@y = Scatter{op} <axis = 1{attributes}> (x, i, u)",
        "float[3, 5] x, int64[3, 3] i, float[3, 3] u",
        "float[3, 5]",
        opset=opset,
        place=place,
    )


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
def test_reductions_take_every_update(reduction: str) -> None:
    model = text(f', reduction = "{reduction}"', opset=18)
    assert_rewrite(PASS, model, feeds=[FEED])
