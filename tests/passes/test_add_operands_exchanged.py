"""add-operands-exchanged: the second operand of a sum first."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "add-operands-exchanged"


MASK = "@m = Constant <value = float[3] {0.1, 2.0, -5.0}> ()\n@y = Add (x, @m)"
ROTATED = "@n = Neg (x)\n@j = Concat <axis = 0> (@n, x)\n@q = Mul (@j, @j)\n@y = Add (x, @q)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("body", "rows"), [(MASK, 1), (ROTATED, 2)])
def test_the_same_numbers(body: str, rows: int, place: str) -> None:
    text = written(body, "float[1,3] x", f"float[{rows},3]", place=place)
    feed: dict[str, Any] = {"x": np.array([[1, np.nan, np.inf]], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        (add,) = [node for node in done.after.graph.node if node.op_type == "Add"]
        assert add.input[1] == "x"
