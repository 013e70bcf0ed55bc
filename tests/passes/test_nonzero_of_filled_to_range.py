"""nonzero-of-filled-to-range: the places of a vector of ones, counted."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "nonzero-of-filled-to-range"
FILLED = "@v = ConstantOfShape <value = {}> (n)\n@y = NonZero (@v)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("value", ["float[1] {1}", "int64[1] {-2}", "bool[1] {1}"])
def test_places(value: str, opset: int, place: str) -> None:
    text = written(FILLED.format(value), "int64[1] n", "int64[1, N]", opset=opset, place=place)
    for size in (5, 1, 0):
        feed: dict[str, Any] = {"n": np.array([size])}
        if place == "branch":
            feed["c"] = np.array(True)
        done = assert_rewrite(PASS, text, feeds=[feed], no_small_sides="the sizes are fed")
        y = outputs_of(done.after, feed)["y"]
        np.testing.assert_array_equal(y, np.arange(size)[None])


def test_an_arange_of_opset_9_for_an_engine_without_nonzero() -> None:
    text = written(
        "@s = Shape (x)\n@v = ConstantOfShape <value = int64[1] {1}> (@s)\n@p = NonZero (@v)\n"
        "@t = Transpose <perm = [1, 0]> (@p)\n@l = Squeeze <axes = [1]> (@t)\n"
        "@f = Cast <to = 1> (@l)\n@y = Add (x, @f)",
        "float[N] x",
        "float[N]",
        opset=9,
    )
    result: Any = graphfix.run(parse(text), target="trt7.2", verify="full")
    assert result.exit_code == 0
    assert not [f for f in result.report.findings_after if f.blocks]
    y = outputs_of(result.model.to_proto(), {"x": np.array([5, 6, 7], np.float32)})["y"]
    np.testing.assert_array_equal(y, np.array([5, 7, 9], np.float32))
