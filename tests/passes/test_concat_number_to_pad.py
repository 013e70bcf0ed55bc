"""concat-number-to-pad: constants of one element at the ends of a Concat."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "concat-number-to-pad"
K = "@k = Constant <value = float[1,1] {2.0}> ()\n"
L = "@l = Constant <value = float[1,2] {-3.0, -3.0}> ()\n"
X = np.array([[1, np.nan, np.inf]], np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("body", "size", "ops"),
    [
        (K + "@y = Concat <axis = -1> (@k, x)", "1,4", {"Pad"}),
        (K + "@y = Concat <axis = 1> (x, @k)", "1,4", {"Pad"}),
        (K + L + "@y = Concat <axis = 1> (@l, x, @k)", "1,6", {"Pad"}),
        (K + "@y = Concat <axis = 1> (x, x, @k)", "1,7", {"Concat", "Pad"}),
        (K.replace("1,1", "1,3").replace("2.0", "2.0, 2.0, 2.0")
         + "@y = Concat <axis = 0> (@k, x)", "2,3", {"Pad"}),
    ],
)  # fmt: skip
def test_the_same_numbers(body: str, size: str, ops: set[str], place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(body, "float[1,3] x", f"float[{size}]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert {node.op_type for node in done.after.graph.node} - {"Constant"} == ops
