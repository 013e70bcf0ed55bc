"""floor-of-quotient: the nearest integer, corrected by the remainder."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "floor-of-quotient"
A = np.array([21, -21, 20, -20, 7, 0, 3.5, -1e30, 5], np.float32)
B = np.array([7, 7, -7, 3, -7, 2, 0.5, 3, 0], np.float32)
ENDS = ("float[N] a, float[N] b", "float[N]")


@pytest.mark.parametrize("place", [place for place in PLACES if place != "function"])
@pytest.mark.parametrize(
    "body",
    [
        "@q = Div (a, b)\n@y = Floor (@q)",
        "@q = Div (a, b)\n@y = Ceil (@q)",
        "@q = Div (a, b)\n@s = Abs (@q)\n@y = Floor (@s)",
        "@q = Div (a, b)\n@s = Neg (@q)\n@y = Floor (@s)",
        "@k = Constant <value = float {3.0}> ()\n@z = Mul (b, @k)\n@q = Div (a, @k)\n"
        "@f = Floor (@q)\n@y = Add (@f, @z)",
    ],
)
def test_the_same_numbers(body: str, place: str) -> None:
    feed: dict[str, Any] = {"a": A, "b": B}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, written(body, *ENDS, place=place), feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert "Round" in {node.op_type for node in done.after.graph.node}


def test_all_quotients_of_small_numbers() -> None:
    a, b = np.meshgrid(np.arange(-60, 61), [n for n in range(-20, 21) if n])
    feed = {"a": a.reshape(-1).astype(np.float32), "b": b.reshape(-1).astype(np.float32)}
    text = written("@q = Div (a, b)\n@y = Floor (@q)", *ENDS)
    assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
