"""conv-window-explicit: kernel_shape where the weight is computed."""

import numpy as np
import onnx
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.shape_models import in_branch, text

PASS = "conv-window-explicit"
RNG = np.random.default_rng(5)


def model(weight: str, more: str = "", dtype: str = "float", opset: int = 17) -> onnx.ModelProto:
    return text(
        f"g ({dtype}[N,2,H,W] x, {dtype}[{weight}] w, {dtype}[3] b) => ({dtype}[N,3,A,B] y) "
        f"{{ v = Neg (w) y = Conv{more} (x, v, b) }}",
        opset,
    )


@pytest.mark.parametrize("opset", [7, 11, 17])
@pytest.mark.parametrize("more", ["", "<pads = [1, 0, 1, 0], strides = [2, 1]>"])
def test_the_window_is_that_of_the_weight(more: str, opset: int) -> None:
    feeds = [
        {
            "x": RNG.standard_normal((n, 2, 7, 6)).astype(np.float32),
            "w": RNG.standard_normal((3, 2, 3, 2)).astype(np.float32),
            "b": np.arange(3, dtype=np.float32),
        }
        for n in (1, 2)
    ]
    done = assert_rewrite(
        PASS, model("3,2,3,2", more, opset=opset), feeds=feeds, after=["Neg", "Conv"]
    )
    given = {a.name: list(a.ints) for a in done.after.graph.node[-1].attribute}
    assert given["kernel_shape"] == [3, 2]
    assert ("pads" in given) == bool(more)


def test_in_a_branch() -> None:
    line = "LOCALw = Slice (x, LOCALs, LOCALe) LOCALr = Conv (x, LOCALw)"
    line = (
        "LOCALs = Constant <value_ints = [0, 0]> () LOCALe = Constant <value_ints = [2, 3]> () "
        + line
    )
    feeds = [
        {"x": RNG.standard_normal((3, 3, 4, 4)).astype(np.float32), "c": np.array(c)}
        for c in (True, False)
    ]
    assert_rewrite(PASS, in_branch(line, "float[3,3,4,4]", "float[3,2,1,1]"), feeds=feeds)


def test_a_transposed_one() -> None:
    ends = "(float[N,2,5,6] x, float[2,3,3,2] w) => (float[N,3,7,7] y)"
    feed = {
        "x": RNG.standard_normal((2, 2, 5, 6)).astype(np.float32),
        "w": RNG.standard_normal((2, 3, 3, 2)).astype(np.float32),
    }
    done = assert_rewrite(
        PASS,
        text(f"g {ends} {{ y = ConvTranspose (x, w) }}", 17),
        feeds=[feed],
        after=["ConvTranspose"],
    )
    given = {a.name: list(a.ints) for a in done.after.graph.node[-1].attribute}
    assert given == {"kernel_shape": [3, 2]}
