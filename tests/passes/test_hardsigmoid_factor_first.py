"""hardsigmoid-factor-first: a number times its own HardSigmoid, exchanged."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import ACTIVATED, PLACES, written

PASS = "hardsigmoid-factor-first"
BODY = "@h = HardSigmoid <alpha = 0.16666667> (x)\n@y = Mul (x, @h)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [13, 22])
def test_values(opset: int, place: str) -> None:
    text = written(BODY, "float[N] x", "float[N]", opset=opset, place=place)
    numbers = np.array([*ACTIVATED, np.nan, np.inf], np.float32)
    feed: dict[str, Any] = {"x": numbers}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert done.after.graph.node[-1].input[1] == "x"
