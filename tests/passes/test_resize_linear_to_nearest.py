import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from graphfix.report import Accuracy
from graphfix.testing import outputs_of, run_pass
from tests.passes.resize_models import assert_valid, in_branch, ramp, resize_model, upsample_model

PASS = "resize-linear-to-nearest"


@pytest.mark.parametrize("opset", [11, 12, 13, 18])
def test_takes_the_pixel_above_and_to_the_left(opset: int) -> None:
    model = resize_model([1, 1, 2, 2], sizes=[1, 1, 4, 6], opset=opset, mode="linear")
    done = run_pass(PASS, model)
    assert_valid(done.after)
    feed = ramp(1, 1, 2, 2)
    expected = feed["x"].repeat(2, axis=2).repeat(3, axis=3)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)
    (site,) = done.outcomes[0].sites
    assert site.accuracy is Accuracy.LOSSY
    assert site.note


@pytest.mark.parametrize("opset", [7, 8, 9])
def test_upsample_stays_upsample(opset: int) -> None:
    done = run_pass(PASS, upsample_model([1, 1, 2, 2], [1, 1, 2, 2], opset=opset))
    feed = ramp(1, 1, 2, 2)
    expected = feed["x"].repeat(2, axis=2).repeat(2, axis=3)
    assert done.ops[-1] == "Upsample"
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


def test_opset_10() -> None:
    model = resize_model([1, 1, 2, 2], scales=[1, 1, 2, 2], opset=10, mode="linear")
    feed = ramp(1, 1, 2, 2)
    expected = feed["x"].repeat(2, axis=2).repeat(2, axis=3)
    after = run_pass(PASS, model).after
    np.testing.assert_array_equal(outputs_of(after, feed)["y"], expected)


def test_dynamic_sizes_are_fine() -> None:
    model = resize_model(
        [1, 1, "h", "w"], scales=[1, 1, 2, 2], mode="linear", antialias=0, opset=18
    )
    after = run_pass(PASS, model).after
    feed = ramp(1, 1, 3, 4)
    expected = feed["x"].repeat(2, axis=2).repeat(2, axis=3)
    np.testing.assert_array_equal(outputs_of(after, feed)["y"], expected)


def test_axes_are_kept_and_antialias_goes() -> None:
    model = resize_model(
        [1, 1, 4, 4], sizes=[2, 8], opset=18, mode="linear", axes=[2, 3], antialias=1
    )
    node = run_pass(PASS, model).after.graph.node[0]
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    assert attributes == {
        "axes": [2, 3],
        "coordinate_transformation_mode": b"asymmetric",
        "mode": b"nearest",
        "nearest_mode": b"floor",
    }


def test_inside_a_branch() -> None:
    model = in_branch(resize_model([1, 1, 2, 2], sizes=[1, 1, 4, 4], mode="linear", opset=16))
    after = run_pass(PASS, model).after
    feed = {**ramp(1, 1, 2, 2), "c": np.array(True)}
    expected = feed["x"].repeat(2, axis=2).repeat(2, axis=3)
    np.testing.assert_array_equal(outputs_of(after, feed)["y"], expected)


@given(size=st.tuples(st.integers(1, 5), st.integers(1, 5)), factor=st.integers(1, 4))
def test_constant_images_stay_constant(size: tuple[int, int], factor: int) -> None:
    model = resize_model([1, 1, *size], scales=[1, 1, factor, factor], mode="linear")
    done = run_pass(PASS, model)
    assert_valid(done.after)
    feed = {"x": np.full((1, 1, *size), 2.5, dtype=np.float32)}
    given_ = outputs_of(done.after, feed)["y"]
    assert given_.shape == (1, 1, size[0] * factor, size[1] * factor)
    assert (given_ == 2.5).all()
    assert run_pass(PASS, done.after).reasons == ["the mode must be linear; it is nearest"]
