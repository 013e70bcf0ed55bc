"""pow-of-zero-apart: powers of roots that are never 0."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
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
