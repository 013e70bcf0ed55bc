"""conv-integer-to-conv: sums of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import written

PASS = "conv-integer-to-conv"

WEIGHTS = np.random.default_rng(1).integers(0, 256, (2, 3, 2, 2)).astype(np.uint8)


@pytest.mark.parametrize("opset", [10, 13, 17])
@pytest.mark.parametrize("operands", ["x, w", "x, w, a", "x, w, a, b"])
@pytest.mark.parametrize("attributes", ["", "pads = [1, 0, 1, 1], strides = [2, 1]"])
def test_like_onnxruntime(attributes: str, operands: str, opset: int) -> None:
    given_attributes = f"<{attributes}>" if attributes else ""
    text = written(
        f"@y = ConvInteger {given_attributes} ({operands})",
        "uint8[1, 3, 4, 4] x, uint8[2, 3, 2, 2] w, uint8 a, uint8 b",
        "int32[1, 2, A, B]",
        opset=opset,
    )
    x = np.random.default_rng(0).integers(0, 256, (1, 3, 4, 4)).astype(np.uint8)
    feed = {"x": x, "w": WEIGHTS, "a": np.array(100, np.uint8), "b": np.array(7, np.uint8)}
    assert_rewrite(PASS, text, feeds=[feed])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 255), min_size=4, max_size=4), st.integers(0, 255))
def test_any_numbers(numbers: list[int], zero: int) -> None:
    text = written(
        "@y = ConvInteger (x, w, a)",
        "uint8[1, 1, 4] x, uint8[1, 1, 2] w, uint8 a",
        "int32[1, 1, 3]",
    )
    x = np.array(numbers, np.uint8).reshape(1, 1, 4)
    feed = {"x": x, "w": x[..., :2].copy(), "a": np.array(zero, np.uint8)}
    assert_rewrite(PASS, text, feeds=[feed])


def test_refuses() -> None:
    text = written(
        "@y = ConvInteger (x, w)", "uint8[1, 1, 9] x, uint8[M, 1, 2] w", "int32[1, M, 8]"
    )
    assert_refused(PASS, text, "the shape of w must be known")
    text = written(
        "@y = ConvInteger (x, w)", "uint8[1, 99, 9] x, uint8[1, 99, 9] w", "int32[1, 1, 1]"
    )
    assert_refused(
        PASS, text, "the sums must be numbers that float32 holds; 891 products may sum up to more"
    )
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
