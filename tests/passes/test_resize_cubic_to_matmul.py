from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from graphfix.report import Accuracy
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.resize_models import ramp, resize_model

PASS = "resize-cubic-to-matmul"
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("mode", COORDINATES)
@pytest.mark.parametrize("a", [-0.75, -0.5])
def test_bicubic_becomes_two_products(mode: str, a: float, opset: int) -> None:
    model = resize_model(
        [2, 3, 7, 7],
        sizes=[2, 3, 11, 5],
        opset=opset,
        mode="cubic",
        cubic_coeff_a=a,
        coordinate_transformation_mode=mode,
    )
    feeds = [ramp(2, 3, 7, 7)]
    assert_rewrite(PASS, model, feeds=feeds, after=["MatMul", "MatMul"], **CLOSE)


def test_weights_are_those_of_keys() -> None:
    model = resize_model(
        [1, 1, 1, 4], sizes=[1, 1, 1, 8], mode="cubic", coordinate_transformation_mode="asymmetric"
    )
    feed = {"x": np.array([[[[0.0, 0.0, 1.0, 0.0]]]], dtype=np.float32)}
    row = outputs_of(run_pass(PASS, model).after, feed)["y"][0, 0, 0]
    # at 1.5 and 2.5 the weight of the middle is w(0.5), at 0.5 it is w(1.5), for a = -0.75
    near = 1.25 * 0.125 - 2.25 * 0.25 + 1
    far = -0.75 * 3.375 + 3.75 * 2.25 - 6 * 1.5 + 3
    # at 3.5 the edge stands for what is beyond it: w(1.5) as well
    np.testing.assert_allclose(row, [0, far, 0, near, 1, near, 0, far], atol=1e-6)


@pytest.mark.parametrize("exclude", [0, 1])
@pytest.mark.parametrize("antialias", [0, 1])
def test_exclude_outside_and_antialias(exclude: int, antialias: int) -> None:
    model = resize_model(
        [1, 2, 9, 8],
        sizes=[1, 2, 4, 11],
        opset=18,
        mode="cubic",
        antialias=antialias,
        exclude_outside=exclude,
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, 9, 8)], **CLOSE)


@pytest.mark.parametrize("scale", [0.6, 1.7, 3.0])
def test_scales_are_used_as_given(scale: float) -> None:
    model = resize_model([1, 1, 8, 6], scales=[1, 1, scale, 2], mode="cubic")
    assert_rewrite(PASS, model, feeds=[ramp(1, 1, 8, 6)], **CLOSE)


def test_dynamic_batch() -> None:
    model = resize_model(["n", 3, 4, 4], scales=[1, 1, 2, 2], mode="cubic")
    assert_rewrite(PASS, model, feeds=[ramp(1, 3, 4, 4), ramp(2, 3, 4, 4)], **CLOSE)


def test_float16_weights_are_rounded_and_the_site_says_so() -> None:
    model = resize_model([1, 1, 3, 3], sizes=[1, 1, 5, 7], mode="cubic", dtype=TensorProto.FLOAT16)
    site = run_pass(PASS, model).outcomes[0].sites[0]
    assert site.accuracy is Accuracy.APPROXIMATE
    assert "float16" in site.note


@given(
    size=st.tuples(st.integers(2, 6), st.integers(2, 6)),
    out=st.tuples(st.integers(1, 11), st.integers(1, 11)),
    mode=st.sampled_from(COORDINATES),
)
def test_any_size(size: tuple[int, int], out: tuple[int, int], mode: str) -> None:
    model = resize_model(
        [1, 2, *size], sizes=[1, 2, *out], mode="cubic", coordinate_transformation_mode=mode
    )
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, *size)], **CLOSE)
