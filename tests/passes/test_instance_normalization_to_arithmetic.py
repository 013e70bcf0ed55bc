"""instance-normalization-to-arithmetic: means, a deviation, a scale and a bias."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "instance-normalization-to-arithmetic"
BODY = "@y = InstanceNormalization <epsilon = 0.1> (x, s, b)"
FEED: dict[str, Any] = {
    "x": np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32),
    "s": np.array([1, -2, 0.5], np.float32),
    "b": np.array([0, 3, -1], np.float32),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dims", ["2, 3, 4, 5", "N, 3, H, W"])
@pytest.mark.parametrize("opset", [8, 11, 13, 17])
def test_epsilon_counts(opset: int, dims: str, place: str) -> None:
    if place == "function" and opset < 11:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    inputs = f"float[{dims}] x, float[3] s, float[3] b"
    text = written(BODY, inputs, f"float[{dims}]", opset=opset, place=place)
    feed = {**FEED, "c": np.array(True)} if place == "branch" else FEED
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)


def test_opset_18_sums() -> None:
    inputs = "float[2, 3, 4, 5] x, float[3] s, float[3] b"
    text = written(BODY, inputs, "float[2, 3, 4, 5]", opset=18)
    done = assert_rewrite(PASS, text, feeds=[FEED], rtol=1e-5, atol=1e-6)
    assert "ReduceMean" not in done.ops


@given(st.integers(1, 3), st.integers(1, 4), st.floats(-100, 100, width=32))
def test_any_size(batch: int, width: int, middle: float) -> None:
    text = written(BODY, "float[N, 3, W] x, float[3] s, float[3] b", "float[N, 3, W]")
    data = np.random.default_rng(width).standard_normal((batch, 3, width)).astype(np.float32)
    assert_rewrite(PASS, text, feeds=[{**FEED, "x": data + middle}], rtol=1e-3, atol=1e-3)
