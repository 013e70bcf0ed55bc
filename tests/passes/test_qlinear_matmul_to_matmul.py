"""qlinear-matmul-to-matmul: scaled, rounded, saturated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.report import APPROXIMATE
from graphfix.testing import assert_refused, assert_untouched, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "qlinear-matmul-to-matmul"

BODY = "@y = QLinearMatMul (a, s, z, b, t, u, v, w)"
FEED = {
    "s": np.array([0.5], np.float32),
    "z": np.array([3], np.uint8),
    "t": np.array([0.25], np.float32),
    "u": np.array([128], np.uint8),
    "v": np.array([4], np.float32),
    "w": np.array([100], np.uint8),
}
REST = "float[1] s, uint8[1] z, float[1] t, uint8[1] u, float[1] v, uint8[1] w"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 21])
def test_at_most_one_off(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        BODY, f"uint8[2, 4] a, uint8[4, 3] b, {REST}", "uint8[2, 3]", opset=opset, place=place
    )
    random = np.random.default_rng(0)
    feed = {
        **FEED,
        "a": random.integers(0, 256, (2, 4)).astype(np.uint8),
        "b": random.integers(0, 256, (4, 3)).astype(np.uint8),
        **({"c": np.array(True)} if place == "branch" else {}),
    }
    done = run_pass(PASS, text)
    assert done.outcomes[0].sites[0].accuracy is APPROXIMATE
    one, two = (outputs_of(m, feed)["y"].astype(int) for m in (done.before, done.after))
    assert np.abs(one - two).max() <= 1
    assert (one == two).mean() > 0.8


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 255), min_size=4, max_size=4))
def test_any_numbers(numbers: list[int]) -> None:
    text = written(BODY, f"uint8[1, 2] a, uint8[2, 1] b, {REST}", "uint8[1, 1]")
    a = np.array([numbers[:2]], np.uint8)
    b = np.array(numbers[2:], np.uint8).reshape(2, 1)
    done = run_pass(PASS, text)
    exact = (a.astype(float) - 3) @ (b.astype(float) - 128) * 0.125 / 4 + 100
    result = outputs_of(done.after, {**FEED, "a": a, "b": b})["y"].astype(float)
    assert np.abs(result - np.clip(exact, 0, 255)).max() <= 0.5 + 1e-4


def test_refuses() -> None:
    inputs = f"uint8[2, N] a, uint8[N, 3] b, {REST}"
    assert_refused(PASS, written(BODY, inputs, "uint8[2, 3]"), "their length is unknown")
    inputs = f"uint8[2, 4] a, uint8[4, 3] b, {REST}".replace("float[1] t", "float[3] t")
    assert_refused(PASS, written(BODY, inputs, "uint8[2, 3]"), "t differs by row or column")
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
