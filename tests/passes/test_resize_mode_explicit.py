"""resize-mode-explicit: the mode that ONNX lets out, and roundings that nothing reads."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "resize-mode-explicit"
SCALES = "@s = Constant <value = float[3] {1.0, 1.0, 2.0}> ()\n"
ENDS = ("float[1,2,3] x", "float[1,2,6]")


def _roundings(attributes: str) -> str:
    return f"{SCALES}@y = Resize <{attributes}> (x, , @s)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "body",
    [
        SCALES + "@y = Resize (x, , @s)",
        _roundings('nearest_mode = "floor"'),
        _roundings('mode = "linear", nearest_mode = "ceil"'),
        _roundings('mode = "nearest", nearest_mode = "round_prefer_floor"'),
    ],
)
def test_the_same_numbers(body: str, place: str) -> None:
    x = np.array([[[1, -2, 3], [0, 0.5, 8]]], np.float32)
    feed: dict[str, Any] = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, written(body, *ENDS, place=place), feeds=[feed], rtol=0, atol=0)
    if place == "main":
        (node,) = [n for n in done.after.graph.node if n.op_type == "Resize"]
        names = {a.name for a in node.attribute}
        assert "mode" in names
        assert ("nearest_mode" in names) == (body == _roundings('nearest_mode = "floor"'))
