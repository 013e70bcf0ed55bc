"""reduce-max-to-global-pool: the largest number of each image."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
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


def test_refusals() -> None:
    body = "@y = ReduceMax <axes = [{axes}]> (x)"
    line = body.replace("{axes}", "2")
    image = ("float[2,3,4,5] x", "float[2,3,A,B]")
    assert_refused(PASS, written(line, *image, opset=13), "must be those of height and width")
    both = body.replace("{axes}", "2, 3")
    whole = ("int64[2,3,4,5] x", "int64[2,3,1,1]")
    assert_refused(PASS, written(both, *whole, opset=13), "must be an image of floats")
    empty = ("float[2,3,4,N] x", "float[2,3,1,1]")
    assert_refused(PASS, written(both, *empty, opset=13), "must be known and above 0")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
