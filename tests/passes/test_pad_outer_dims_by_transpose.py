"""pad-outer-dims-by-transpose: padded axes come last."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "pad-outer-dims-by-transpose"
DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def body(pads: list[int]) -> str:
    return f"@p = Constant <value = int64[6] {{{str(pads)[1:-1]}}}> ()\n@y = Pad (x, @p)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dims", ["2, 3, 4", "L, M, N"])
@pytest.mark.parametrize("opset", [11, 13, 17])
def test_two_axes(opset: int, dims: str, place: str) -> None:
    text = written(
        body([1, 0, 2, 0, 0, 1]), f"float[{dims}] x", "float[A, B, C]", opset=opset, place=place
    )
    feed: dict[str, Any] = {"x": DATA}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert done.ops[-3:] == ["Transpose", "Pad", "Transpose"]


@given(st.integers(0, 1), st.lists(st.integers(0, 3), min_size=2, max_size=2))
def test_any_axis(axis: int, amounts: list[int]) -> None:
    pads = [0] * 6
    pads[axis], pads[axis + 3] = amounts[0] + 1, amounts[1]
    text = written(body(pads), "float[2, 3, 4] x", "float[A, B, C]")
    assert_rewrite(PASS, text, feeds=[{"x": DATA}])
