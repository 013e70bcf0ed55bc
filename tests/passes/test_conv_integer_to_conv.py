"""conv-integer-to-conv: sums of integers."""

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import numpy_helper

from graphfix.testing import assert_rewrite, outputs_of, run_pass
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


LONG = written(
    "@y = ConvInteger (x, w, a, b)",
    "uint8[1, 99, 9] x, uint8[2, 99, 9] w, uint8 a, uint8[2] b",
    "int32[1, 2, 1]",
)


@pytest.mark.parametrize("number", [255, 254, 1])
def test_long_sums_are_cut_into_pieces(number: int) -> None:
    x = np.full((1, 99, 9), number, np.uint8)
    w = np.full((2, 99, 9), 255, np.uint8)
    w[1, ::2] = 0
    text = LONG.replace("uint8[2] b", "uint8 b")
    feed = {"x": x, "w": w, "a": np.array(0, np.uint8), "b": np.array(0, np.uint8)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert done.ops.count("Conv") == 4  # 28 channels of 9 products each


def test_zero_points_of_channels() -> None:
    model = onnx.parser.parse_model(LONG)
    zeros = np.array([7, 200], np.uint8)
    model.graph.initializer.append(numpy_helper.from_array(zeros, "b"))
    del model.graph.input[3]
    rng = np.random.default_rng(5)
    x, w = (rng.integers(0, 256, size).astype(np.uint8) for size in ((1, 99, 9), (2, 99, 9)))
    after = run_pass(PASS, model).after  # onnxruntime takes one zero point alone
    got = outputs_of(after, {"x": x, "w": w, "a": np.array(3, np.uint8)})["y"]
    wanted = ((x.astype(int) - 3) * (w.astype(int) - zeros.reshape(2, 1, 1))).sum(axis=(1, 2))
    assert got.reshape(2).tolist() == wanted.tolist()


def test_one_piece_by_choice() -> None:
    text = LONG.replace("uint8[2] b", "uint8 b")
    rng = np.random.default_rng(6)
    x, w = (rng.integers(0, 256, size).astype(np.uint8) for size in ((1, 99, 9), (2, 99, 9)))
    feed = {"x": x, "w": w, "a": np.array(0, np.uint8), "b": np.array(0, np.uint8)}
    done = run_pass(PASS, text, options={"rounded": True})
    assert done.ops.count("Conv") == 1
    exact = outputs_of(done.before, feed)["y"]
    assert np.abs(outputs_of(done.after, feed)["y"] - exact).max() <= 2e-7 * 255 * 255 * 891
    (site,) = (site for outcome in done.outcomes for site in outcome.sites)
    assert str(site.accuracy) == "approximate"


@pytest.mark.parametrize("opset", [10, 13])
def test_computed_zero_points_of_channels(opset: int) -> None:
    text = (
        f'<ir_version: 7, opset_import: ["" : {opset}]> g (uint8[1,1,3,3] x, uint8[2,1,2,2] w, '
        "uint8 a, uint8[2] b) => (int32[1,2,4,4] y) "
        "{ y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, a, b) }"
    )
    feed = {
        "x": np.arange(2, 11, dtype=np.uint8).reshape(1, 1, 3, 3),
        "w": np.ones((2, 1, 2, 2), np.uint8),
        "a": np.array(1, np.uint8),
        "b": np.array([0, 1], np.uint8),
    }
    y = outputs_of(run_pass(PASS, text).after, feed)["y"]
    assert y[0, 0, 0].tolist() == [1, 3, 5, 3]  # what is padded is the zero point of x
    assert not y[0, 1].any()  # weights that are their zero point
