"""pad-mode-explicit: the mode that ONNX lets out."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "pad-mode-explicit"
PADS = "@p = Constant <value = int64[2] {1, 2}> ()\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("opset", "body"),
    [
        (10, "@y = Pad <pads = [1, 2], value = 3.0> (x)"),
        (13, PADS + "@y = Pad (x, @p)"),
        (19, PADS + "@k = Constant <value = float {3.0}> ()\n@y = Pad (x, @p, @k)"),
    ],
)
def test_the_same_numbers(opset: int, body: str, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(body, "float[3] x", "float[6]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": np.array([1, np.nan, np.inf], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        (mode,) = [a.s for n in done.after.graph.node for a in n.attribute if a.name == "mode"]
        assert mode == b"constant"
