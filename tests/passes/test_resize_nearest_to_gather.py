import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import numpy_helper

from graphfix.report import Status
from graphfix.testing import assert_rewrite, assert_same, outputs_of, run_pass
from tests.passes.resize_models import ramp, resize_model, upsample_model

PASS = "resize-nearest-to-gather"
ROUNDING = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("nearest", ROUNDING)
def test_pixels_are_those_of_onnxruntime(nearest: str, opset: int) -> None:
    model = resize_model(
        [1, 2, 5, 6], sizes=[1, 2, 8, 3], opset=opset, mode="nearest", nearest_mode=nearest
    )
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 5, 6)], after=["Gather", "Gather"])
    # half_pixel onto 8 of 5: x = (y + 0.5) * 5 / 8 - 0.5
    points = (np.arange(8) + 0.5) * 5 / 8 - 0.5
    rounded = {
        "floor": np.floor(points),
        "ceil": np.ceil(points),
        "round_prefer_floor": np.ceil(points - 0.5),
        "round_prefer_ceil": np.floor(points + 0.5),
    }[nearest]
    x = np.broadcast_to(np.arange(5, dtype=np.float32)[:, None], (1, 2, 5, 6)).copy()
    rows = outputs_of(done.after, {"x": x})["y"][0, 0, :, 0]
    assert rows.tolist() == np.clip(rounded, 0, 4).tolist()


@pytest.mark.parametrize("opset", [7, 9])
def test_upsample_repeats(opset: int) -> None:
    model = upsample_model([1, 1, 2, 2], [1, 1, 2, 3], opset=opset, mode="nearest")
    done = run_pass(PASS, model)
    assert [op for op in done.ops if op != "Constant"] == ["Gather", "Gather"]
    feed = {"x": np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)}
    expected = feed["x"].repeat(2, axis=2).repeat(3, axis=3)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


def test_tf_half_pixel_for_nn() -> None:
    model = resize_model(
        [1, 1, 6, 6],
        scales=[1, 1, 0.5, 1.5],
        opset=12,
        mode="nearest",
        coordinate_transformation_mode="tf_half_pixel_for_nn",
        nearest_mode="floor",
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 1, 6, 6)])


def test_crop_inside_the_input() -> None:
    model = resize_model(
        [1, 1, 9, 9],
        sizes=[1, 1, 4, 5],
        roi=[0, 0, 0.25, 0, 1, 1, 0.7, 0.6],
        mode="nearest",
        coordinate_transformation_mode="tf_crop_and_resize",
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 1, 9, 9)])


def test_dynamic_batch_and_channels() -> None:
    model = resize_model(["n", "c", 4, 4], scales=[1, 1, 2, 2], mode="nearest")
    assert_rewrite(PASS, model, feeds=[ramp(2, 1, 4, 4), ramp(1, 3, 4, 4)])


def test_a_long_axis_is_sampled_at_once() -> None:
    model = resize_model([1, 1, 1, 3], sizes=[1, 1, 1, 600_000], mode="nearest")
    done = run_pass(PASS, model)
    (indices,) = [
        numpy_helper.to_array(t) for t in done.after.graph.initializer if t.dims == [600_000]
    ]
    assert np.array_equal(indices, np.repeat(np.arange(3), 200_000))


@settings(max_examples=40, deadline=None)
@given(
    length=st.integers(1, 9),
    size=st.integers(1, 14),
    mode=st.sampled_from(COORDINATES),
    nearest=st.sampled_from(ROUNDING),
)
def test_equal_or_refused(length: int, size: int, mode: str, nearest: str) -> None:
    model = resize_model(
        [1, 1, 2, length],
        sizes=[1, 1, 4, size],
        opset=19,
        mode="nearest",
        coordinate_transformation_mode=mode,
        nearest_mode=nearest,
    )
    done = run_pass(PASS, model)
    if done.with_status(Status.APPLIED):
        feed = ramp(1, 1, 2, length)
        assert_same(outputs_of(model, feed), outputs_of(done.after, feed), rtol=0, atol=0)
        assert "Resize" not in done.ops
    else:
        assert all(
            "the pixels of axis 3 must be the same in all engines" in reason
            for reason in done.reasons
        )
        assert done.after == model
