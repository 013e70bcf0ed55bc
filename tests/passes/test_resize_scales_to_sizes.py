from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, numpy_helper

from graphfix.report import Status
from graphfix.testing import (
    assert_rewrite,
    assert_same,
    outputs_of,
    run_pass,
)
from tests.passes.resize_models import ramp, resize_model

PASS = "resize-scales-to-sizes"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}


def close(length: int) -> dict[str, Any]:
    """Coordinates differ by up to 2^-22 of the length; neighbours in a ramp by less than 8."""
    return {"rtol": 1e-5, "atol": 2e-6 + 8 * length * 2.0**-22}


def sizes_of(model: ModelProto) -> list[int]:
    node = model.graph.node[-1]
    known = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    sizes: list[int] = known[node.input[3]].tolist()
    return sizes


@pytest.mark.parametrize("opset", [11, 12, 13, 18])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_static_lengths(mode: str, opset: int) -> None:
    model = resize_model([1, 2, 4, 6], scales=[1, 1, 2, 0.5], opset=opset, mode=mode)
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 4, 6)], after=["Resize"], **CLOSE)
    assert sizes_of(done.after) == [1, 2, 8, 3]


def test_align_corners_does_not_read_the_scale() -> None:
    model = resize_model(
        [1, 1, 4, 6],
        scales=[1, 1, 1.3, 0.7],
        mode="linear",
        coordinate_transformation_mode="align_corners",
    )
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 4, 6)], **CLOSE)
    assert sizes_of(done.after) == [1, 1, 5, 4]


def test_lengths_at_run_time_come_from_shape() -> None:
    model = resize_model(["n", 3, "h", 4], scales=[1, 1, 3, 2.5], mode="linear")
    feeds = [ramp(1, 3, 2, 4), ramp(2, 3, 5, 4)]
    done = assert_rewrite(PASS, model, feeds=feeds, **CLOSE)
    assert done.ops == ["Shape", "Slice", "Slice", "Mul", "Concat", "Resize"]


def test_axes_are_kept() -> None:
    model = resize_model([1, 2, 4, 6], scales=[0.5, 2], opset=18, mode="linear", axes=[-1, 2])
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 4, 6)], **CLOSE)
    assert sizes_of(done.after) == [3, 8]


@settings(max_examples=40, deadline=None)
@given(
    length=st.integers(1, 12),
    scale=st.sampled_from([0.25, 0.3, 0.5, 1 / 3, 0.75, 1.5, 2.0, 2.6, 3.0]),
    mode=st.sampled_from(["nearest", "linear"]),
    coordinates=st.sampled_from(
        ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    ),
)
def test_equal_or_refused(length: int, scale: float, mode: str, coordinates: str) -> None:
    model = resize_model(
        [1, 1, 2, length],
        scales=[1, 1, 2, scale],
        mode=mode,
        coordinate_transformation_mode=coordinates,
    )
    done = run_pass(PASS, model)
    if done.with_status(Status.APPLIED):
        feed = ramp(1, 1, 2, length)
        tolerance = {"rtol": 0.0, "atol": 0.0} if mode == "nearest" else close(length)
        assert_same(outputs_of(model, feed), outputs_of(done.after, feed), **tolerance)
    else:
        assert done.reasons
        assert done.after == model
