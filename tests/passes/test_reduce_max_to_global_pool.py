"""reduce-max-to-global-pool: the largest number of each image."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "reduce-max-to-global-pool"
RNG = np.random.default_rng(5)
AXES = "@a = Constant <value = int64[2] {2, 3}> ()\n"


@pytest.mark.parametrize("place", [place for place in PLACES if place != "function"])
@pytest.mark.parametrize(
    ("opset", "body"),
    [
        (11, "@y = ReduceMax <axes = [-1, 2], keepdims = {k}> (x)"),
        (13, "@y = ReduceMax <axes = [2, 3], keepdims = {k}> (x)"),
        (18, AXES + "@y = ReduceMax <keepdims = {k}> (x, @a)"),
    ],
)
@pytest.mark.parametrize(("keepdims", "shape"), [(1, "2,3,1,1"), (0, "2,3")])
def test_the_same_numbers(opset: int, body: str, keepdims: int, shape: str, place: str) -> None:
    text = body.replace("{k}", str(keepdims))
    model = written(text, "float[2,3,4,5] x", f"float[{shape}]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": RNG.standard_normal((2, 3, 4, 5)).astype(np.float32) - 9}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        wanted = ["GlobalMaxPool"] if keepdims else ["GlobalMaxPool", "Reshape"]
        assert [op for op in done.ops if op != "Constant"] == wanted
