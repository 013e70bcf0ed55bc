"""conv-of-lines-to-images: one axis of size 1 more."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "conv-of-lines-to-images"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 4, 9)).astype(np.float32)
W = RNG.standard_normal((6, 2, 3)).astype(np.float32)
B = RNG.standard_normal(6).astype(np.float32)
WORDS = "kernel_shape = [3], pads = [1, 2], strides = [2], dilations = [2], group = 2"


@pytest.mark.parametrize("opset", [11, 13, 22])
def test_values(opset: int) -> None:
    inputs = "float[N,4,9] x, float[6,2,3] w, float[6] b"
    body = f"@y = Conv <{WORDS}> (x, w, b)"
    model = written(body, inputs, "float[N,6,4]", opset=opset)
    feed = {"x": X, "w": W, "b": B}
    assert_rewrite(PASS, model, feeds=[feed], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("place", PLACES)
def test_transposed_in_any_place(place: str) -> None:
    body = "@y = ConvTranspose <strides = [2], output_padding = [1]> (x, w)"
    weights = RNG.standard_normal((4, 3, 3)).astype(np.float32)
    inputs, output = "float[2,4,9] x, float[4,3,3] w", "float[2,3,20]"
    feed = {"x": X, "w": weights, **({"c": np.array(True)} if place == "branch" else {})}
    model = written(body, inputs, output, place=place)
    assert_rewrite(PASS, model, feeds=[feed], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opset", [12, 22])
@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("MaxPool", "pads = [1, 0], dilations = [2], ceil_mode = 1"),
        ("AveragePool", "pads = [0, 1], count_include_pad = 1"),
        ("AveragePool", "pads = [1, 0], ceil_mode = 1"),
    ],
)
def test_pools(op: str, words: str, opset: int) -> None:
    body = f"@y = {op} <kernel_shape = [2], strides = [2], {words}> (x)"
    model = written(body, "float[N,4,9] x", "float[N,4,L]", opset=opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], rtol=1e-6, atol=1e-6)
    assert [o for o in done.ops if o != "Constant"] == ["Unsqueeze", op, "Squeeze"]
