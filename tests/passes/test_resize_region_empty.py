"""resize-region-empty: a region of interest that nothing reads."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "resize-region-empty"
REGION = "@r = Constant <value = float[6] {0.0, 0.0, 0.0, 1.0, 1.0, 1.0}> ()\n"
SCALES = "@s = Constant <value = float[3] {1.0, 1.0, 2.0}> ()\n"
ENDS = ("float[1,2,3] x", "float[1,2,6]")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_the_same_numbers(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    body = REGION + SCALES + '@y = Resize <mode = "linear"> (x, @r, @s)'
    x = np.array([[[1, -2, 3], [0, 0.5, 8]]], np.float32)
    feed: dict[str, Any] = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(body, *ENDS, opset=opset, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        (node,) = [n for n in done.after.graph.node if n.op_type == "Resize"]
        assert bool(node.input[1]) == (opset < 13)
