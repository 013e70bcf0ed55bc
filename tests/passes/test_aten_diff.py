from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_diff import evaluate
from tests.passes.aten_models import LAYOUTS, array_of, aten_model, becomes, numpy_dtype
from tests.passes.resize_models import in_branch

PASS = "aten-diff"


def numbers(times: int, axis: int) -> list[Any]:
    return [np.array(times), np.array(axis), None, None]


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 5, 3)
    model = aten_model("diff", [2, 5, 3], numbers(2, 1), layout=layout, opset=opset)
    ops = ["Slice", "Slice", "Sub"] * 2
    becomes(PASS, model, {"x": x}, np.diff(x, n=2, axis=1), ops=ops)


def test_attributes_and_defaults() -> None:
    x = array_of(3, 4)
    model = aten_model("diff", [3, 4], layout="default", attributes={"n": 1, "dim": 0})
    becomes(PASS, model, {"x": x}, np.diff(x, axis=0))
    becomes(PASS, aten_model("diff", [3, 4]), {"x": x}, np.diff(x))
    becomes(PASS, aten_model("diff", [3, 4], numbers(0, 1)), {"x": x}, x, ops=["Identity"])


@pytest.mark.parametrize(
    ("kind", "opset"),
    [
        (TensorProto.DOUBLE, 7),
        (TensorProto.FLOAT16, 13),
        (TensorProto.INT32, 7),
        (TensorProto.INT64, 13),
        (TensorProto.UINT8, 14),
        (TensorProto.INT8, 14),
    ],
)
def test_other_types(kind: int, opset: int) -> None:
    x = np.array([[1, 5, 2, 2], [9, 0, 7, 1]]).astype(numpy_dtype(kind))
    model = aten_model("diff", [2, 4], numbers(1, 1), dtype=kind, opset=opset)
    becomes(PASS, model, {"x": x}, x[:, 1:] - x[:, :-1])


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.diff"): evaluate}
    model = aten_model("diff", ["N", 5], numbers(2, -1))
    assert_rewrite(PASS, model, feeds=[{"x": array_of(2, 5)}], evaluators=evaluators)


def test_other_axes_may_be_dynamic() -> None:
    x = array_of(2, 3, 4)
    becomes(PASS, aten_model("diff", ["N", 3, "W"], numbers(1, 1)), {"x": x}, np.diff(x, axis=1))
    assert_refused(PASS, aten_model("diff", ["N", 3], numbers(1, 0)), "size of axis 0")


def test_in_a_branch() -> None:
    x = array_of(2, 4)
    done = run_pass(PASS, in_branch(aten_model("diff", [2, 4])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, np.diff(x))


@given(times=st.integers(0, 3), axis=st.integers(-3, 2), opset=st.sampled_from([7, 10, 13, 18]))
def test_any_difference(times: int, axis: int, opset: int) -> None:
    x = array_of(4, 5, 6)
    model = aten_model("diff", [4, 5, 6], numbers(times, axis), opset=opset)
    becomes(PASS, model, {"x": x}, np.asarray(np.diff(x, n=times, axis=axis)))
