"""lppool-to-averagepool: roots of sums of powers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "lppool-to-averagepool"


@pytest.mark.parametrize("place", PLACES)
def test_values(place: str) -> None:
    text = written(
        "@y = LpPool <kernel_shape = [2], p = 3> (x)",
        "float[1, 1, 3] x",
        "float[1, 1, 2]",
        place=place,
    )
    feed = {"x": np.array([[[3, -4, 5]]], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5)
    expected = [[[91 ** (1 / 3), 189 ** (1 / 3)]]]
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], expected, rtol=1e-5)


@pytest.mark.parametrize("opset", [7, 11, 18])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("pads", ["", ", pads = [1, 0, 1, 1], strides = [2, 1]"])
def test_like_onnxruntime(pads: str, p: int, opset: int) -> None:
    text = written(
        f"@y = LpPool <kernel_shape = [2, 3], p = {p}{pads}> (x)",
        "float[1, 2, 5, 6] x",
        "float[1, 2, A, B]",
        opset=opset,
    )
    x = np.random.default_rng(0).standard_normal((1, 2, 5, 6)).astype(np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=1e-4, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-9, 9, width=32), min_size=2, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    text = written(
        "@y = LpPool <kernel_shape = [2], p = 3> (x)", "float[1, 1, N] x", "float[1, 1, M]"
    )
    x = np.array([[numbers]], np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=1e-4, atol=1e-4)


def test_refuses() -> None:
    inputs, output = "float[1, 1, 6] x", "float[1, 1, M]"
    text = written("@y = LpPool <kernel_shape = [2], ceil_mode = 1> (x)", inputs, output, opset=18)
    assert_refused(PASS, text, "ceil_mode must be 0; it is not")
    text = written(
        "@y = LpPool <kernel_shape = [2], dilations = [2]> (x)", inputs, output, opset=18
    )
    assert_refused(
        PASS, text, "the opset must be at least 19 for an AveragePool with dilations; it is 18"
    )
    text = written(
        '@y = LpPool <kernel_shape = [2], strides = [3], auto_pad = "SAME_UPPER"> (x)',
        inputs,
        output,
        opset=18,
    )
    assert_refused(PASS, text, "with auto_pad no stride may be longer than the kernel; one is")
    text = written("@y = LpPool <kernel_shape = [2], p = 0> (x)", inputs, output, opset=18)
    assert_refused(PASS, text, "the power must be at least 1; it is 0")
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
