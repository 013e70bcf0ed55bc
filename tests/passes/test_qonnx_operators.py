"""QuantAvgPool2d, Im2Col, XnorPopcountMatMul and DebugMarker of QONNX, by their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from graphfix.testing import assert_refused, outputs_of, run_pass
from tests.passes.brevitas_models import quantizer

Array = np.ndarray[Any, Any]
POOL, COLUMNS = "qonnx-average-pool-to-floor", "qonnx-im2col-to-slices"
XNOR, MARKER = "qonnx-xnor-to-matmul", "qonnx-debug-marker-elimination"
IMAGE = np.arange(-30, 30, dtype=np.float32).reshape(1, 2, 5, 6)


def _model(op: str, shape: Sequence[int | str], rank: int = 4, **attributes: Any) -> Any:
    model = quantizer(op, [], shape=shape, **attributes)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [f"y{a}" for a in range(rank)])
    model.graph.output[0].CopyFrom(result)
    return model


def _given(name: str, model: onnx.ModelProto, x: Array) -> Array:
    y: Array = outputs_of(run_pass(name, model).after, {"x": x})["y"]
    return y


@pytest.mark.parametrize("domain", ["qonnx.custom_op.general", "finn.custom_op.general"])
@pytest.mark.parametrize(("bits", "shifts"), [(7, 1), (4, 4), (16, 0)])
def test_sums_lose_their_lowest_bits(bits: int, shifts: int, domain: str) -> None:
    # 4 windows of at most 63 make 8 bits; those beyond `obits` are dropped.
    model = _model(
        "QuantAvgPool2d", [1, 2, "H", 6], domain=domain, kernel=2, stride=2, ibits=6, obits=bits
    )
    sums = IMAGE[:, :, :4].reshape(1, 2, 2, 2, 3, 2).sum((3, 5)).astype(int)
    assert _given(POOL, model, IMAGE).tolist() == np.right_shift(sums, shifts).tolist()


def test_channels_of_a_pool_stand_last() -> None:
    model = _model(
        "QuantAvgPool2d", [1, 2, 5, 6], kernel=2, stride=1, ibits=3, obits=2, data_layout="NHWC"
    )
    given = _given(POOL, model, IMAGE)
    assert given.shape == (1, 1, 4, 6)
    sums = int(IMAGE[0, :2, 1:3, 4].sum())
    assert given[0, 0, 1, 4] == sums >> 3  # 28 has 5 bits, of which 2 are kept


def test_sums_of_many_bits_and_matrices_are_refused() -> None:
    wide = _model("QuantAvgPool2d", [1, 2, 5, 6], kernel=4, stride=1, ibits=17, obits=8)
    assert_refused(POOL, wide, "at most 20 bits; they have 21")
    flat = _model("QuantAvgPool2d", [5, 6], 2, kernel=1, stride=1, ibits=1, obits=1)
    assert_refused(POOL, flat, "must be images; its rank is 2")


def test_columns_of_points_and_channels() -> None:
    model = _model(
        "Im2Col", [1, 2, 5, 6], kernel_size=[2, 3], stride=[1, 2], input_shape="(1,2,5,6)",
        pad_amount=[1, 0, 0, 1], pad_value=7, dilations=[1, 2],
    )  # fmt: skip
    given = _given(COLUMNS, model, IMAGE)
    padded = np.pad(IMAGE, ((0, 0), (1, 0), (0, 1), (0, 0)), constant_values=7)
    assert given.shape == (1, 2, 1, 2 * 3 * 6)
    for row in range(2):
        wanted = padded[0, row : row + 2, 0:5:2].reshape(-1)  # points first, then channels
        assert given[0, row, 0].tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("shape", "kernel", "reason"),
    [
        ([2, 2, 5, 6], [1, 1], "must be one image of known sizes"),
        ([1, "H", 5, 6], [1, 1], "must be one image of known sizes"),
        ([1, 2, 5, 6], [3, 1], "must fit into the image; it spans 3 of axis 1"),
        ([1, 2, 5, 6], [1], "kernel_size must be two numbers"),
    ],
)
def test_columns_of_other_images_are_refused(
    shape: list[int | str], kernel: list[int], reason: str
) -> None:
    model = _model("Im2Col", shape, kernel_size=kernel, stride=[1, 1], input_shape="")
    assert_refused(COLUMNS, model, reason)


def test_bits_that_agree_are_counted() -> None:
    rng = np.random.default_rng(0)
    x, weights = (rng.integers(0, 2, s).astype(np.float32) for s in ((3, 9), (9, 4)))
    model = quantizer("XnorPopcountMatMul", [weights], shape=["N", 9])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4]))
    agree = (x[:, :, None] == weights).sum(1)
    assert _given(XNOR, model, x).tolist() == agree.tolist()


def test_rows_of_unknown_size_take_that_of_the_columns() -> None:
    model = quantizer("XnorPopcountMatMul", [np.ones((4, 1), np.float32)], shape=["N", "K"])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1]))
    assert _given(XNOR, model, np.array([[1, 0, 1, 1]], np.float32)).tolist() == [[3]]
    vector = quantizer("XnorPopcountMatMul", [np.ones(4, np.float32)], shape=["N", 4])
    assert_refused(XNOR, vector, "the second operand rank 2")


def test_a_marker_is_left_out() -> None:
    model = quantizer("DebugMarker", [], shape=["N"], export_debug_name="here")
    done = run_pass(MARKER, model)
    assert done.ops == ["Identity"]
    x = np.array([1, -2], np.float32)
    assert outputs_of(done.after, {"x": x})["y"].tolist() == [1, -2]
