from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, helper, numpy_helper

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_rewrite, assert_same, outputs_of, run_pass
from tests.passes.resize_models import model_of, ramp, resize_model

PASS = "resize-sizes-to-scales"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}


def close(length: int) -> dict[str, Any]:
    """Coordinates differ by up to 2^-22 of the length; neighbours in a ramp by less than 8."""
    return {"rtol": 1e-5, "atol": 2e-6 + 8 * length * 2.0**-22}


def inputs_of(model: ModelProto) -> list[list[float] | None]:
    known = {t.name: numpy_helper.to_array(t).tolist() for t in model.graph.initializer}
    return [known.get(name) for name in model.graph.node[-1].input]


@pytest.mark.parametrize("opset", [11, 12, 13, 18])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_static_lengths(mode: str, opset: int) -> None:
    model = resize_model([1, 2, 4, 6], sizes=[1, 2, 8, 3], opset=opset, mode=mode)
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 4, 6)], after=["Resize"], **CLOSE)
    assert inputs_of(done.after)[2:] == [[1.0, 1.0, 2.0, 0.5]]
    whole = [0.0] * 4 + [1.0] * 4
    assert inputs_of(done.after)[1] == (whole if opset < 13 else None)


def test_the_product_is_never_below_the_size() -> None:
    # float32(29 / 41) * 41 is below 29
    model = resize_model([1, 1, 41, 47], sizes=[1, 1, 29, 13], mode="linear")
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 41, 47)], **close(88))
    scales = inputs_of(done.after)[2]
    assert scales is not None
    assert done.outcomes[0].sites[0].accuracy is Accuracy.APPROXIMATE
    assert [int(s * n) for s, n in zip(scales[2:], (41, 47), strict=True)] == [29, 13]


def test_dimensions_that_stay_may_be_dynamic() -> None:
    make = helper.make_node
    model = model_of(
        [
            make("Shape", ["x"], ["shape"]),
            make("Slice", ["shape", "zero", "one"], ["n"]),
            make("Slice", ["shape", "two", "four"], ["hw"]),
            make("Mul", ["hw", "factor"], ["larger"]),
            make("Concat", ["n", "channels", "larger"], ["sizes"], axis=0),
            make(
                "Resize",
                ["x", "", "", "sizes"],
                ["y"],
                mode="nearest",
                nearest_mode="floor",
                coordinate_transformation_mode="asymmetric",
            ),
        ],
        x=["n", 3, "h", "w"],
        y=[None] * 4,
        opset=13,
        constants={
            "zero": np.array([0]),
            "one": np.array([1]),
            "two": np.array([2]),
            "four": np.array([4]),
            "channels": np.array([3]),
            "factor": np.array([3]),
        },
    )
    feeds = [ramp(1, 3, 2, 5), ramp(2, 3, 4, 3)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["Resize"])
    assert inputs_of(done.after)[2] == [1.0, 1.0, 3.0, 3.0]


def test_axes_are_kept() -> None:
    model = resize_model([1, 2, 4, 6], sizes=[3, 8], opset=18, mode="linear", axes=[-1, 2])
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 4, 6)], **CLOSE)
    assert inputs_of(done.after)[2] == [0.5, 2.0]


@settings(max_examples=40, deadline=None)
@given(
    length=st.integers(1, 40),
    size=st.integers(1, 60),
    mode=st.sampled_from(["nearest", "linear"]),
    coordinates=st.sampled_from(
        ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    ),
)
def test_equal_or_refused(length: int, size: int, mode: str, coordinates: str) -> None:
    model = resize_model(
        [1, 1, 2, length],
        sizes=[1, 1, 4, size],
        mode=mode,
        coordinate_transformation_mode=coordinates,
    )
    done = run_pass(PASS, model)
    feed = ramp(1, 1, 2, length)
    if done.with_status(Status.APPLIED):
        tolerance = {"rtol": 0.0, "atol": 0.0} if mode == "nearest" else close(length)
        assert_same(outputs_of(model, feed), outputs_of(done.after, feed), **tolerance)
    else:
        assert mode == "nearest"
        assert done.after == model
