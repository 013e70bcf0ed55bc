"""hardsigmoid-factor-first: a number times its own HardSigmoid, exchanged."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
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


def test_refused() -> None:
    reason = "the second operand must be the HardSigmoid of the first one; it is not"
    of_other = "h = HardSigmoid (z)\ny = Mul (x, h)"
    for body in ("y = Mul (x, z)", of_other, "h = HardSigmoid (x)\ny = Mul (h, x)"):
        assert_refused(PASS, written(body, "float[2] x, float[2] z", "float[2]"), reason)


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = HardSigmoid (x)", "float[3] x", "float[3]"))
