"""gelu-add-to-sub: one is added by subtracting minus one."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "gelu-add-to-sub"
BODY = "@one = Constant <value = float {{1.0}}> ()\n@e = Erf (x)\n@y = Add ({operands})"
NUMBERS = np.array([-np.inf, -3, -0.0, 0.0, 1e-30, 0.5, 7, np.inf, np.nan], np.float32)


def feed_for(place: str) -> dict[str, Any]:
    return {"x": NUMBERS, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("operands", ["@e, @one", "@one, @e"])
def test_the_same_bits(operands: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    body = BODY.format(operands=operands)
    text = written(body, "float[N] x", "float[N]", opset=opset, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed_for(place)], rtol=0, atol=0)
    if place == "main":
        assert done.ops == ["Erf", "Sub"]


def test_more_than_one_number() -> None:
    text = "@k = Constant <value = float[2] {1.5, -2.0}> ()\n@e = Erf (x)\n@y = Add (@e, @k)"
    feed = {"x": np.array([[0.25, -4.0]], np.float32)}
    assert_rewrite(PASS, written(text, "float[1,2] x", "float[1,2]"), feeds=[feed], rtol=0, atol=0)


def test_refusals() -> None:
    plain = "@one = Constant <value = float {1.0}> ()\n@y = Add (x, @one)"
    assert_refused(
        PASS,
        written(plain, "float[3] x", "float[3]"),
        "one operand must come out of Erf; none does",
    )
    both = "@e = Erf (x)\n@y = Add (@e, x)"
    assert_refused(PASS, written(both, "float[3] x", "float[3]"), "the other operand")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
