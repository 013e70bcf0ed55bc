"""roi-align-to-matmul: what bins take of rows and of columns."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "roi-align-to-matmul"
RNG = np.random.default_rng(6)
ROIS = np.array(
    [[0, 0, 7, 5], [1.5, 2.25, 6, 4], [3, 3, 3, 3], [-4, -3, 12, 20], [6, 5, 2, 1], [-1, 8, 7, 9]]
)


def call(attributes: str) -> str:
    given = "output_height = 3, output_width = 2, sampling_ratio = 2"
    return f"@y = RoiAlign <{given}{attributes}> (x, r, b)"


def feed_of(batches: int, dtype: Any = np.float32) -> dict[str, Any]:
    return {
        "x": RNG.normal(size=(batches, 3, 6, 8)).astype(dtype),
        "r": ROIS.astype(dtype),
        "b": RNG.integers(0, batches, len(ROIS)),
    }


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dims", ["2, 3, 6, 8", "N, C, H, W", "1, 3, 6, W"])
@pytest.mark.parametrize(
    "attributes",
    ["", ", spatial_scale = 0.5", ', coordinate_transformation_mode = "output_half_pixel"'],
)
def test_regions(attributes: str, dims: str, place: str) -> None:
    inputs = f"float[{dims}] x, float[R, 4] r, int64[R] b"
    text = written(call(attributes), inputs, "float[R, K, 3, 2]", opset=16, place=place)
    feed = feed_of(1 if dims.startswith("1") else 2)
    if place == "branch":
        feed["c"] = np.array(True)
    empty = "onnxruntime reads in front of an image without pixels" if "W" in dims else ""
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-5, no_small_sides=empty)


@pytest.mark.parametrize(("kind", "opset"), [("float", 10), ("double", 16)])
def test_forms_and_types(kind: str, opset: int) -> None:
    inputs = f"{kind}[2, 3, 6, 8] x, {kind}[R, 4] r, int64[R] b"
    text = written(call(""), inputs, f"{kind}[R, 3, 3, 2]", opset=opset)
    feed = feed_of(2, np.float32 if kind == "float" else np.float64)
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-5)
