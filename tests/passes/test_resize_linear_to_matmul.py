from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from graphfix.report import Accuracy
from graphfix.testing import assert_refused, assert_rewrite, assert_same, outputs_of, run_pass
from tests.passes.resize_models import in_branch, ramp, reference, resize_model, upsample_model

PASS = "resize-linear-to-matmul"
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}


@pytest.mark.parametrize("opset", [11, 12, 13, 17, 18, 19])
@pytest.mark.parametrize("mode", COORDINATES)
def test_bilinear_becomes_two_products(mode: str, opset: int) -> None:
    model = resize_model(
        [2, 3, 5, 7],
        sizes=[2, 3, 9, 4],
        opset=opset,
        mode="linear",
        coordinate_transformation_mode=mode,
    )
    assert_rewrite(PASS, model, feeds=[ramp(2, 3, 5, 7)], after=["MatMul", "MatMul"], **CLOSE)


def test_weights_are_those_of_the_formula() -> None:
    model = resize_model([1, 1, 1, 2], sizes=[1, 1, 1, 4], mode="linear")
    done = run_pass(PASS, model)
    feed = {"x": np.array([[[[0.0, 1.0]]]], dtype=np.float32)}
    # half_pixel: (x + 0.5) / 2 - 0.5 = -0.25, 0.25, 0.75, 1.25
    assert outputs_of(done.after, feed)["y"].tolist() == [[[[0.0, 0.25, 0.75, 1.0]]]]


@pytest.mark.parametrize("mode", COORDINATES)
@pytest.mark.parametrize("scale", [0.5, 0.6, 1.5, 2.0, 2.3])
def test_scales_are_used_as_given(mode: str, scale: float) -> None:
    model = resize_model(
        [1, 2, 7, 6], scales=[1, 1, scale, 2], mode="linear", coordinate_transformation_mode=mode
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, 7, 6)], **CLOSE)


@pytest.mark.parametrize("opset", [7, 8, 9])
def test_upsample_is_asymmetric(opset: int) -> None:
    model = upsample_model([1, 2, 3, 4], [1, 1, 2, 3], opset=opset)
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 3, 4)], **CLOSE)
    feed = {"x": np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)}
    row = outputs_of(done.after, feed)["y"][0, 0, 0]
    np.testing.assert_allclose(row[:6], [0, 1 / 3, 2 / 3, 1, 4 / 3, 5 / 3], rtol=1e-6)


def test_resize_of_opset_10() -> None:
    model = resize_model([1, 2, 3, 4], scales=[1, 1, 2, 2.5], opset=10, mode="linear")
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, 3, 4)], **CLOSE)


def test_trilinear_turns_the_third_axis_from_the_end() -> None:
    model = resize_model([1, 2, 3, 4, 5], sizes=[1, 2, 6, 8, 10], mode="linear", opset=17)
    assert_rewrite(
        PASS,
        model,
        feeds=[ramp(1, 2, 3, 4, 5)],
        after=["MatMul", "MatMul", "Transpose", "MatMul", "Transpose"],
        **CLOSE,
    )


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_low_ranks_against_the_reference(rank: int) -> None:
    model = resize_model([4] * rank, sizes=[7] * rank, mode="linear")
    done = run_pass(PASS, model)
    feed = ramp(*[4] * rank)
    expected = reference(model, feed)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], expected, **CLOSE)


def test_batch_and_channels_may_be_dynamic() -> None:
    model = resize_model(["n", "c", 4, 4], scales=[1, 1, 2, 2], mode="linear")
    feeds = [ramp(2, 3, 4, 4), ramp(1, 5, 4, 4)]
    assert_rewrite(PASS, model, feeds=feeds, after=["MatMul", "MatMul"], **CLOSE)


@pytest.mark.parametrize("exclude", [0, 1])
@pytest.mark.parametrize("mode", [*COORDINATES, "half_pixel_symmetric"])
def test_antialias(mode: str, exclude: int) -> None:
    model = resize_model(
        [1, 2, 9, 8],
        sizes=[1, 2, 4, 11],
        opset=19,
        mode="linear",
        antialias=1,
        exclude_outside=exclude,
        coordinate_transformation_mode=mode,
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, 9, 8)], **CLOSE)


def test_half_pixel_symmetric_where_the_product_is_no_integer() -> None:
    model = resize_model(
        [1, 1, 7, 5],
        scales=[1, 1, 1.7, 0.7],
        opset=19,
        mode="linear",
        coordinate_transformation_mode="half_pixel_symmetric",
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 1, 7, 5)], **CLOSE)


@pytest.mark.parametrize("value", [0.0, 3.5])
def test_crop_with_points_outside(value: float) -> None:
    model = resize_model(
        [1, 2, 5, 6],
        sizes=[1, 2, 4, 9],
        roi=[0, 0, -0.3, 0.2, 1, 1, 0.8, 1.4],
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=value,
    )
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 5, 6)], **CLOSE)
    assert done.ops.count("Add") == (2 if value else 0)
    outside = outputs_of(done.after, ramp(1, 2, 5, 6))["y"][:, :, 0]
    np.testing.assert_allclose(outside, value, rtol=1e-6)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_axes_and_aspect_policy(policy: str) -> None:
    model = resize_model(
        [1, 2, 6, 4],
        sizes=[8, 9],
        opset=18,
        mode="linear",
        axes=[3, 2],
        keep_aspect_ratio_policy=policy,
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, 6, 4)], **CLOSE)


def test_sizes_known_from_the_output() -> None:
    model = resize_model([1, 2, 4, 4], sizes=[1, 2, 6, 6], mode="linear", y=[1, 2, 6, 6])
    model.graph.initializer.pop()
    model.graph.input.extend([type(model.graph.input[0])(name="sizes", type=_int64_vector(4))])
    feed = {**ramp(1, 2, 4, 4), "sizes": np.array([1, 2, 6, 6], dtype=np.int64)}
    done = run_pass(PASS, model)
    assert done.ops == ["MatMul", "MatMul"]
    assert_same(outputs_of(model, feed), outputs_of(done.after, feed), **CLOSE)


def _int64_vector(length: int) -> Any:
    return helper.make_tensor_type_proto(TensorProto.INT64, [length])


def test_inside_a_branch() -> None:
    model = in_branch(resize_model([1, 1, 3, 3], sizes=[1, 1, 5, 7], mode="linear", opset=16))
    feeds = [{**ramp(1, 1, 3, 3), "c": np.array(c)} for c in (True, False)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["If"], **CLOSE)
    for attribute in done.after.graph.node[0].attribute:
        assert [n.op_type for n in attribute.g.node] == ["MatMul", "MatMul"]


@pytest.mark.parametrize(
    ("dtype", "kind"), [(TensorProto.FLOAT16, np.float16), (TensorProto.DOUBLE, np.float64)]
)
def test_other_float_types(dtype: int, kind: type[np.generic]) -> None:
    model = resize_model([1, 1, 3, 3], sizes=[1, 1, 5, 7], mode="linear", dtype=dtype)
    done = run_pass(PASS, model)
    feed = ramp(1, 1, 3, 3, dtype=kind)
    tolerance = 4e-3 if kind is np.float16 else 1e-12
    expected = reference(model, feed)
    given = outputs_of(done.after, feed)["y"]
    assert given.dtype == kind
    np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance)
    wanted = Accuracy.APPROXIMATE if kind is np.float16 else Accuracy.EXACT
    assert [o.sites[0].accuracy for o in done.outcomes] == [wanted]


def test_float16_with_representable_weights_is_exact() -> None:
    model = resize_model(
        [1, 1, 3, 3], sizes=[1, 1, 6, 12], mode="linear", dtype=TensorProto.FLOAT16
    )
    assert run_pass(PASS, model).outcomes[0].sites[0].accuracy is Accuracy.EXACT


@pytest.mark.parametrize("declared", [9, None])
def test_a_size_that_rounding_decides_is_the_declared_one(declared: int | None) -> None:
    # 5 * float32(1.8) is 9 in float32 and a little less in truth; PyTorch exports such scales
    model = resize_model([1, 1, 5, 4], scales=[1, 1, 1.8, 2], opset=10, mode="linear")
    model.graph.output[0].type.tensor_type.shape.dim[2].Clear()
    if declared is None:
        assert_refused(PASS, model, "the rounded size must be the same for all engines")
        return
    model.graph.output[0].type.tensor_type.shape.dim[2].dim_value = declared
    done = run_pass(PASS, model)
    feed = ramp(1, 1, 5, 4)
    assert_same(outputs_of(model, feed), outputs_of(done.after, feed), **CLOSE)
    assert done.ops == ["MatMul", "MatMul"]


@given(
    height=st.integers(2, 6),
    width=st.integers(2, 6),
    out=st.tuples(st.integers(1, 11), st.integers(1, 11)),
    mode=st.sampled_from([*COORDINATES, "half_pixel_symmetric"]),
)
def test_any_size(height: int, width: int, out: tuple[int, int], mode: str) -> None:
    model = resize_model(
        [1, 2, height, width],
        sizes=[1, 2, *out],
        opset=19,
        mode="linear",
        coordinate_transformation_mode=mode,
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, height, width)], **CLOSE)
