"""softmax-cross-entropy-to-likelihood: the loss and the logarithms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "softmax-cross-entropy-to-likelihood"

X = np.random.default_rng(0).standard_normal((3, 5, 2)).astype(np.float32)
FEED = {"x": X, "t": np.array([[0, 4], [1, 2], [3, 1]]), "w": np.arange(1, 6).astype(np.float32)}


@pytest.mark.parametrize("opset", [13, 17, 18])
@pytest.mark.parametrize(
    "attributes", ['reduction = "sum"', 'reduction = "mean", ignore_index = 1']
)
@pytest.mark.parametrize("operands", ["x, t", "x, t, w"])
def test_like_onnxruntime(operands: str, attributes: str, opset: int) -> None:
    text = (
        f'<ir_version: 8, opset_import: ["": {opset}]> g (float[3, 5, 2] x, int64[3, 2] t, '
        "float[5] w) => (float y, float[3, 5, 2] p) "
        f"{{ y, p = SoftmaxCrossEntropyLoss <{attributes}> ({operands}) }}"
    )
    done = assert_rewrite(PASS, text, feeds=[FEED], rtol=1e-5, atol=1e-6)
    assert done.ops == ["LogSoftmax", "NegativeLogLikelihoodLoss"]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_any_labels(labels: list[int]) -> None:
    text = written("@y = SoftmaxCrossEntropyLoss (x, t)", "float[N, 5] x, int64[N] t", "float")
    x = np.random.default_rng(1).standard_normal((len(labels), 5)).astype(np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": x, "t": np.array(labels)}], rtol=1e-5, atol=1e-6)
