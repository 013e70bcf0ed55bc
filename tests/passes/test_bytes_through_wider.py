"""bytes-through-wider: limits, remainders and maxima of 8 bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "bytes-through-wider"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_clip(kind: str, place: str) -> None:
    text = written("@y = Clip (a, , b)", f"{kind}[3] a, {kind} b", f"{kind}[3]", place=place)
    feed = {"a": np.array([1, 50, 127], kind), "b": np.array(60, kind)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == [1, 50, 60]


@given(st.integers(-128, 127), st.integers(-128, 127), st.integers(0, 1))
def test_any_remainder(a: int, b: int, fmod: int) -> None:
    if b in (0, -1):
        b = 7
    text = written(f"@y = Mod <fmod = {fmod}> (a, b)", "int8[1] a, int8[1] b", "int8[1]")
    assert_rewrite(PASS, text, feeds=[{"a": np.array([a], np.int8), "b": np.array([b], np.int8)}])


@pytest.mark.parametrize("opset", [12, 17, 21])
def test_largest_of_a_window(opset: int) -> None:
    body = "@y = MaxPool <kernel_shape = [2], pads = [1, 0]> (x)"
    text = written(body, "uint8[1, 1, 4] x", "uint8[1, 1, 4]", opset=opset)
    x = np.array([[[200, 3, 255, 0]]], np.uint8)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    assert outputs_of(done.after, {"x": x})["y"].tolist() == [[[200, 200, 255, 255]]]


def test_refuses() -> None:
    assert_refused(
        PASS,
        written("@y = Clip (x)", "float[3] x", "float[3]"),
        "x must be int8 or uint8; it is float32",
    )
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
