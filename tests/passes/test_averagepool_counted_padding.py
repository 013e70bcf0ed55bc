"""averagepool-counted-padding: zeros put in before the average."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "averagepool-counted-padding"
RNG = np.random.default_rng(7)


def pool(pads: str = "1, 0, 1, 2", more: str = "") -> str:
    return (
        f"@y = AveragePool <kernel_shape = [3, 3], pads = [{pads}], strides = [2, 1],"
        f" count_include_pad = 1{more}> (x)"
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [7, 11, 17, 19])
def test_the_same_averages(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(pool(), "float[N,2,7,6] x", "float[N,2,A,B]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": RNG.standard_normal((2, 2, 7, 6)).astype(np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == ["Pad", "AveragePool"]


def test_one_and_three_dimensions() -> None:
    one = "@y = AveragePool <kernel_shape = [2], pads = [1, 1], count_include_pad = 1> (x)"
    feed = {"x": RNG.standard_normal((1, 2, 5)).astype(np.float32)}
    assert_rewrite(PASS, written(one, "float[1,2,5] x", "float[1,2,6]"), feeds=[feed])
    three = one.replace("[2]", "[2, 2, 2]").replace("[1, 1]", "[1, 0, 0, 1, 1, 1]")
    feed = {"x": RNG.standard_normal((1, 2, 4, 4, 4)).astype(np.float32)}
    assert_rewrite(PASS, written(three, "float[1,2,4,4,4] x", "float[1,2,5,4,4]"), feeds=[feed])


@pytest.mark.parametrize("opset", [10, 17, 19])
def test_no_padding_and_windows_that_stick_out(opset: int) -> None:
    text = written(
        pool("0, 0, 0, 0", ", ceil_mode = 1"), "float[N,2,8,6] x", "float[N,2,A,B]", opset=opset
    )
    feed = {"x": RNG.standard_normal((2, 2, 8, 6)).astype(np.float32)}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["AveragePool"], rtol=1e-5, atol=1e-6)
    assert "count_include_pad" not in [a.name for a in done.after.graph.node[0].attribute]
