"""pow-of-zero-apart: powers of roots that are never 0."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "pow-of-zero-apart"
X = np.array([-2, -0.5, 0.5, 0, 1, 30], np.float32)


def _body(number: float, kind: str = "float") -> str:
    return f"@k = Constant <value = {kind} {{{number}}}> ()\n@y = Pow (x, @k)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", [0.3, 0.49999976, 1.5, 4.5])
def test_the_same_numbers(number: float, place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(_body(number), "float[N] x", "float[N]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5)
    if place == "main":
        ops = {node.op_type for node in done.after.graph.node} - {"Constant"}
        assert ops == {"Max", "Mul", "Pow", "Sign", "Sqrt"}


def test_an_exponent_for_each_column() -> None:
    body = "@k = Constant <value = float[2] {0.5, 1.5}> ()\n@y = Pow (x, @k)"
    x = np.array([[0, 2], [3, 0]], np.float32)
    assert_rewrite(PASS, written(body, "float[2,2] x", "float[2,2]"), feeds=[{"x": x}], rtol=1e-5)


def test_refusals() -> None:
    for number in (-0.5, 0.0, 3.0):
        text = written(_body(number), "float[3] x", "float[3]")
        assert_refused(PASS, text, "the exponent must be above 0, and no whole number")
    positive = "@l = Constant <value = float {0.1}> ()\n@m = Max (x, @l)\n" + _body(0.5)
    text = written(positive.replace("Pow (x", "Pow (@m"), "float[3] x", "float[3]")
    assert_refused(PASS, text, "must be one that can be 0")
    doubles = written(_body(0.5, "double"), "double[3] x", "double[3]")
    assert_refused(PASS, doubles, "must be float32")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
