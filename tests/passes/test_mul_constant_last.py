"""mul-constant-last: the operands of a product exchanged."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "mul-constant-last"
BODY = "@k = Constant <value = {kind}[2] {{3, 4}}> ()\n@y = Mul (@k, x)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["float", "int64"])
@pytest.mark.parametrize("opset", [13, 21])
def test_values(kind: str, place: str, opset: int) -> None:
    text = written(
        BODY.format(kind=kind), f"{kind}[N,2] x", f"{kind}[N,2]", opset=opset, place=place
    )
    x = np.array([[1, -2], [0, 5]], np.float32 if kind == "float" else np.int64)
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert done.after.graph.node[-1].input[0] == "x"


@given(st.lists(st.floats(width=32), min_size=2, max_size=2))
def test_any_numbers(numbers: list[float]) -> None:
    text = written(BODY.format(kind="float"), "float[1,2] x", "float[1,2]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array([numbers], np.float32)}])
