"""dft-of-computed-length: matrices computed at run time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "dft-of-computed-length"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("inverse", [0, 1])
def test_shorter_equal_and_longer(inverse: int, parts: int, place: str) -> None:
    text = written(
        f"@y = DFT <axis = 1, inverse = {inverse}> (x, n)",
        f"float[2, 6, {parts}] x, int64 n",
        "float[2, L, 2]",
        place=place,
    )
    data = np.random.default_rng(parts).standard_normal((2, 6, parts)).astype(np.float32)
    feeds: list[dict[str, Any]] = [{"x": data, "n": np.array(n)} for n in (4, 6, 9)]
    if place == "branch":
        feeds = [{**feed, "c": np.array(True)} for feed in feeds]
    assert_rewrite(PASS, text, feeds=feeds, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_axes(axis: int) -> None:
    text = written(
        f"@y = DFT <axis = {axis}> (x, n)", "float[2, 3, 4, 1] x, int64 n", "float[A, B, C, 2]"
    )
    data = np.random.default_rng(axis).standard_normal((2, 3, 4, 1)).astype(np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": data, "n": np.array(3)}], rtol=1e-4, atol=1e-5)


@given(st.integers(1, 12), st.integers(1, 16))
def test_any_length(size: int, length: int) -> None:
    text = written(
        "@k = Constant <value_int = -2> ()\n@y = DFT (x, n, @k)",
        f"float[1, {size}, 1] x, int64 n",
        "float[1, L, 2]",
        opset=20,
    )
    data = np.random.default_rng(size).standard_normal((1, size, 1)).astype(np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": data, "n": np.array(length)}], rtol=1e-3, atol=1e-4)
