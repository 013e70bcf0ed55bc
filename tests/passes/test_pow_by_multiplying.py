"""pow-by-multiplying: small powers as products."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "pow-by-multiplying"
X = np.array([-2, -0.5, 0.5, 0, 1, 3], np.float32)


def _body(number: float, kind: str = "float") -> str:
    return f"@k = Constant <value = {kind} {{{number}}}> ()\n@y = Pow (x, @k)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("number", "ops"),
    [
        (1.0, {"Identity"}),
        (3.0, {"Mul"}),
        (8.0, {"Mul"}),
        (-1.0, {"Reciprocal"}),
        (-5.0, {"Mul", "Reciprocal"}),
        (0.5, {"Sqrt"}),
        (-0.5, {"Reciprocal", "Sqrt"}),
    ],
)
def test_the_same_numbers(number: float, ops: set[str], place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(_body(number), "float[N] x", "float[N]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6)
    if place == "main":
        assert {node.op_type for node in done.after.graph.node} - {"Constant"} == ops
