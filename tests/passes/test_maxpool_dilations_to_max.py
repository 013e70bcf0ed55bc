from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

from graphfix.report import Status
from graphfix.testing import assert_rewrite, assert_same, outputs_of, run_pass
from tests.passes.resize_models import model_of, ramp

PASS = "maxpool-dilations-to-max"


def pool_model(
    x: list[int | str], *, opset: int = 13, dtype: int = TensorProto.FLOAT, **attributes: Any
) -> ModelProto:
    node = helper.make_node("MaxPool", ["x"], ["y"], **attributes)
    return model_of([node], x=x, y=[None] * len(x), opset=opset, dtype=dtype)


@pytest.mark.parametrize("opset", [10, 11, 12, 13, 18])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 0, 2, 1]])
def test_two_dimensions(opset: int, pads: list[int]) -> None:
    model = pool_model(
        [2, 3, 9, 8], opset=opset, kernel_shape=[3, 2], dilations=[2, 3], strides=[1, 2], pads=pads
    )
    done = assert_rewrite(PASS, model, feeds=[ramp(2, 3, 9, 8)])
    padding = ["Pad"] if any(pads) else []
    assert done.ops == [*padding, *["Slice"] * 6, "Max"]


def test_values() -> None:
    model = pool_model([1, 1, 6], kernel_shape=[2], dilations=[3])
    feed = {"x": np.array([[[5, 1, 4, 2, 3, 9]]], dtype=np.float32)}
    after = run_pass(PASS, model).after
    assert outputs_of(after, feed)["y"].tolist() == [[[5, 3, 9]]]


def test_dynamic_batch() -> None:
    model = pool_model(["n", 2, 7], kernel_shape=[3], dilations=[2])
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, 7), ramp(3, 2, 7)])


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(
    ("kernel", "dilation", "pads"), [(2, 3, 0), (3, 2, 2), (3, 5, 2), (1, 2, 0)]
)
def test_sizes_known_at_run_time(kernel: int, dilation: int, pads: int, stride: int) -> None:
    model = pool_model(
        ["n", 2, "h", 12],
        kernel_shape=[kernel, 2],
        dilations=[dilation, 2],
        strides=[stride, 1],
        pads=[pads, 0, pads, 1],
    )
    feeds = [ramp(1, 2, 11, 12), ramp(2, 2, 12, 12), ramp(1, 2, 17, 12)]
    feeds.append({"x": -ramp(1, 2, 13, 12)["x"] - 1})
    # An axis of 0 lacks one element for a window, and ONNX rounds the size of the output down.
    lacking = (kernel - 1) * dilation == 2 * pads and stride > 1
    odd = "onnxruntime rounds -1 / 2 up, and makes a row of nothing" if lacking else ""
    assert_rewrite(PASS, model, feeds=feeds, no_small_sides=odd)


def test_an_axis_shorter_than_the_dilation_gives_what_onnxruntime_gives() -> None:
    model = pool_model(["n", 1, "w"], kernel_shape=[2], dilations=[3], pads=[1, 1])
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 2), ramp(2, 1, 3)])
    lowest = np.finfo(np.float32).min
    assert outputs_of(done.after, ramp(1, 1, 2))["y"].tolist() == [[[lowest]]]


@pytest.mark.parametrize("size", range(5, 13))
@pytest.mark.parametrize("pads", [[0, 0], [1, 0], [0, 1], [1, 1]])
@pytest.mark.parametrize(("kernel", "dilation", "stride"), [(3, 2, 3), (2, 3, 2), (2, 2, 4)])
def test_windows_hang_over_the_edge(
    kernel: int, dilation: int, stride: int, pads: list[int], size: int
) -> None:
    model = pool_model(
        [1, 2, size], kernel_shape=[kernel], dilations=[dilation], strides=[stride], pads=pads,
        ceil_mode=1,
    )  # fmt: skip
    feed = ramp(1, 2, size)
    done = run_pass(PASS, model)
    if done.with_status(Status.APPLIED):  # windows of padding alone are refused
        assert_same(outputs_of(model, feed), outputs_of(done.after, feed), rtol=0, atol=0)
    else:
        assert done.with_status(Status.REFUSED)


@given(
    length=st.integers(6, 12),
    kernel=st.integers(1, 3),
    dilation=st.integers(2, 3),
    stride=st.integers(1, 3),
    pad=st.integers(0, 1),
)
def test_equal_or_refused(length: int, kernel: int, dilation: int, stride: int, pad: int) -> None:
    model = pool_model(
        [1, 2, length],
        kernel_shape=[kernel],
        dilations=[dilation],
        strides=[stride],
        pads=[min(pad, kernel - 1)] * 2,
    )
    done = run_pass(PASS, model)
    if done.with_status(Status.APPLIED):
        feed = ramp(1, 2, length)
        assert_same(outputs_of(model, feed), outputs_of(done.after, feed), rtol=0, atol=0)
    else:
        assert done.reasons
        assert done.after == model
