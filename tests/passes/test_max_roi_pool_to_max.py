"""max-roi-pool-to-max: the largest number of each bin of known regions."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "max-roi-pool-to-max"
X = np.random.default_rng(2).standard_normal((2, 3, 6, 7)).astype(np.float32)


def text(regions: str, attributes: str, *, count: int, out: str, **more: Any) -> str:
    body = (
        f"@r = Constant <value = float[{count},5] {{{regions}}}> ()\n"
        f"@y = MaxRoiPool <{attributes}> (x, @r)"
    )
    return written(body, "float[2,3,6,7] x", f"float[{count},3,{out}]", **more)


@pytest.mark.parametrize("place", PLACES)
def test_two_regions(place: str) -> None:
    model = text(
        "0, 0, 0, 3, 3, 1, 1, 2, 6, 5", "pooled_shape = [2, 3]", count=2, out="2,3", place=place
    )
    feed: dict[str, Any] = {"x": X}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = X[1, :, 2:4, 1:3].max(axis=(1, 2))
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"][1, :, 0, 0], wanted)


@pytest.mark.parametrize("opset", [7, 13, 21])
@pytest.mark.parametrize("scale", [0.25, 0.5, 1.3])
@pytest.mark.parametrize(
    "region",
    [
        "0, 0, 0, 5, 5",
        "1, 1.5, 2.5, 4.5, 5.5",
        "0, 4, 4, 2, 1",
        "1, 20, 3, 30, 9",
        "0, -3, -4, 2, 1",
    ],
)
def test_scales_and_regions_beyond_the_edge(region: str, scale: float, opset: int) -> None:
    attributes = f"pooled_shape = [3, 2], spatial_scale = {scale}"
    model = text(region, attributes, count=1, out="3,2", opset=opset)
    assert_rewrite(PASS, model, feeds=[{"x": X}])
