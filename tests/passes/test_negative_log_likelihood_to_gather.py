"""negative-log-likelihood-to-gather: picked, weighed, ignored, reduced."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "negative-log-likelihood-to-gather"

NUMBERS = np.random.default_rng(0).standard_normal((3, 5, 2)).astype(np.float32)
WEIGHTS = np.array([0.5, 1, 2, 3, 0.25], np.float32)


@pytest.mark.parametrize("opset", [12, 13, 17, 18, 22])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("ignored", [None, 1, -7])
def test_like_onnxruntime(opset: int, reduction: str, weighed: bool, ignored: int | None) -> None:
    more = "" if ignored is None else f", ignore_index = {ignored}"
    weight = ", w" if weighed else ""
    shape = "[3, 2]" if reduction == "none" else ""
    text = written(
        f'@y = NegativeLogLikelihoodLoss <reduction = "{reduction}"{more}> (x, t{weight})',
        "float[3, 5, 2] x, int64[3, 2] t, float[5] w",
        f"float{shape}",
        opset=opset,
    )
    target = np.array([[0, 4], [1, 2], [3, 1]])
    if ignored is not None and ignored < 0:
        target[0, 0] = ignored
    feed = {"x": NUMBERS, "t": target, "w": WEIGHTS}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_any_targets(targets: list[int]) -> None:
    text = written(
        "@y = NegativeLogLikelihoodLoss (x, t, w)", "float[N, 5] x, int64[N] t, float[5] w", "float"
    )
    x = np.random.default_rng(1).standard_normal((len(targets), 5)).astype(np.float32)
    feed = {"x": x, "t": np.array(targets), "w": WEIGHTS}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
