"""embed-layer-normalization-to-gather: looked up, added, normalised."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of

PASS = "embed-layer-normalization-to-gather"

MICROSOFT = ', "com.microsoft" : 1'
WEIGHTS = {
    "w": np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32),
    "p": np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32),
    "t": np.random.default_rng(2).standard_normal((2, 4)).astype(np.float32),
    "g": np.array([1, 2, 3, 4], np.float32),
    "b": np.array([0, 1, 0, 1], np.float32),
}
IDS = np.array([[3, 0, 5], [1, 1, 2]], np.int32)
MASK = np.array([[1, 1, 0], [1, 0, 0]], np.int32)
SEGMENTS = np.array([[0, 0, 1], [1, 1, 0]], np.int32)
INPUTS = (
    "int32[{n}] i, int32[{n}] s, int32[{n}] m, float[6, 4] w, float[5, 4] p, float[2, 4] t, "
    "float[4] g, float[4] b"
)
FEED = {"i": IDS, "s": SEGMENTS, "m": MASK, **WEIGHTS}


def text_of(operands: str, size: str = "2, 3", opset: int = 13, outputs: str = "y, k") -> str:
    given = INPUTS.format(n=size)
    kinds = {"y": f"float[{size}, 4] y", "k": "int32[a] k", "e": f"float[{size}, 4] e"}
    named = ", ".join(kinds[name] for name in outputs.replace(" ", "").split(",") if name)
    return (
        f'<ir_version: 8, opset_import: ["": {opset}{MICROSOFT}]> g ({given}) => ({named}) '
        f"{{ {outputs} = com.microsoft.EmbedLayerNormalization <epsilon = 0.001> ({operands}) }}"
    )


@pytest.mark.parametrize("opset", [11, 13, 17, 18])
@pytest.mark.parametrize(
    "operands",
    [
        "i, s, w, p, t, g, b, m",
        "i, , w, p, , g, b, m",
        "i, , w, p, , g, b",
        "i, , w, p, , g, b, , s",
    ],
)
def test_like_onnxruntime(operands: str, opset: int) -> None:
    assert_rewrite(PASS, text_of(operands, opset=opset), feeds=[FEED], rtol=1e-4, atol=1e-5)


def test_the_mask_index_counts_ones_and_no_other_values() -> None:
    feed = {**FEED, "m": np.array([[2, 1, 0], [-1, 1, 1]], np.int32)}
    text = text_of("i, s, w, p, t, g, b, m")
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)
    assert outputs_of(done.after, feed)["k"].tolist() == [1, 2]


def test_the_sum_is_returned() -> None:
    text = text_of("i, s, w, p, t, g, b, m", outputs="y, k, e")
    assert_rewrite(PASS, text, feeds=[FEED], rtol=1e-4, atol=1e-5)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 9))
def test_any_size(batch: int, length: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    feed = {
        "i": random.integers(0, 6, (batch, length)).astype(np.int32),
        "s": random.integers(0, 2, (batch, length)).astype(np.int32),
        "m": np.sort(random.integers(0, 2, (batch, length)), axis=1)[:, ::-1].astype(np.int32),
        **WEIGHTS,
    }
    text = text_of("i, s, w, p, t, g, b", size="B, L")
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)
