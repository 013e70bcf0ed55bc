"""unsqueeze-one-by-one: each axis in a node of its own."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "unsqueeze-one-by-one"
SHAPES = {
    "0, 2": (1, 2, 1, 3),
    "3, 0": (1, 2, 3, 1),
    "-1, -4": (1, 2, 3, 1),
    "1, 2, 0": (1, 1, 1, 2, 3),
}


def body(axes: str, opset: int) -> str:
    if opset < 13:
        return f"@y = Unsqueeze <axes = [{axes}]> (x)"
    return f"@a = Constant <value_ints = [{axes}]> ()\n@y = Unsqueeze (x, @a)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("axes", sorted(SHAPES))
def test_shapes(axes: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    sizes = ",".join("N" if size == 2 else str(size) for size in SHAPES[axes])
    text = written(body(axes, opset), "float[N,3] x", f"float[{sizes}]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    if place == "branch":
        feed["c"] = np.array(False)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    assert outputs_of(done.after, feed)["y"].shape == SHAPES[axes]
    if place == "main":
        assert done.ops == ["Unsqueeze"] * len(axes.split(","))
