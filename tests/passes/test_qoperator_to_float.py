"""qoperator-to-float: quantized regions on floating point numbers that hold the integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "qoperator-to-float"
MS = ', "com.microsoft" : 1'
HEAD = (
    "@xs = Constant <value = float {0.05}> ()\n@xz = Constant <value = int8 {3}> ()\n"
    "@ys = Constant <value = float {0.11}> ()\n@yz = Constant <value = int8 {-7}> ()\n"
    "@ws = Constant <value = float {0.02}> ()\n@wz = Constant <value = int8 {0}> ()\n"
    "@q = QuantizeLinear (x, @xs, @xz)\n"
)
TAIL = "\n@y = DequantizeLinear (@r, @ys, @yz)"
CONV = (
    "@w = Constant <value = int8[2, 1, 2, 2] {100, -120, 127, 3, -128, 5, 77, -90}> ()\n"
    "@b = Constant <value = int32[2] {500, -700}> ()\n"
    "@r = QLinearConv <pads = [1, 0, 0, 1]> (@q, @xs, @xz, @w, @ws, @wz, @ys, @yz, @b)"
)
MATMUL = (
    "@w = Constant <value = int8[4, 3] {1, 2, 3, -4, 5, 60, 127, -128, 9, 10, 11, 12}> ()\n"
    "@r = QLinearMatMul (@q, @xs, @xz, @w, @ws, @wz, @ys, @yz)"
)


def numbers(*shape: int) -> Any:
    return (np.random.default_rng(1).standard_normal(shape) * 4).astype(np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_convolution_to_the_bit(opset: int, place: str) -> None:
    text = written(
        HEAD + CONV + TAIL, "float[1, 1, 5, 5] x", "float[1, 2, 5, 5]", opset=opset, place=place
    )
    feed: dict[str, Any] = {"x": numbers(1, 1, 5, 5)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6)
    if place == "main":
        assert not {"QLinearConv", "QuantizeLinear", "DequantizeLinear"} & set(done.ops)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-30, 30, width=32), min_size=8, max_size=8))
def test_products_to_the_bit(values: list[float]) -> None:
    text = written(HEAD + MATMUL + TAIL, "float[2, 4] x", "float[2, 3]")
    feed = {"x": np.array(values, np.float32).reshape(2, 4)}
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6)
    (applied,) = done.with_status(Status.APPLIED)
    assert {site.accuracy for site in applied.sites} == {Accuracy.EXACT}


def test_pooling_and_moves_between() -> None:
    body = HEAD + CONV.replace("@r =", "@s =") + (
        "\n@m = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (@s)\n"
        "@r = Transpose <perm = [0, 2, 3, 1]> (@m)"
    )  # fmt: skip
    text = written(body + TAIL, "float[1, 1, 5, 5] x", "float[1, 2, 2, 2]")
    assert_rewrite(PASS, text, feeds=[{"x": numbers(1, 1, 5, 5)}], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "dims"),
    [
        ("com.microsoft.QLinearAdd (@q, @xs, @xz, @q, @xs, @xz, @ys, @yz)", "1, 2, 4, 4"),
        ("com.microsoft.QLinearGlobalAveragePool (@q, @xs, @xz, @ys, @yz)", "1, 2, 1, 1"),
        (
            "com.microsoft.QLinearAveragePool <kernel_shape = [2, 2], pads = [1, 1, 0, 0]> "
            "(@q, @xs, @xz, @ys, @yz)",
            "1, 2, 4, 4",
        ),
        (
            "com.microsoft.QLinearSoftmax <axis = -1, opset = 13> (@q, @xs, @xz, @ws, @wz)",
            "1, 2, 4, 4",
        ),
    ],
)
def test_operators_of_onnxruntime(call: str, dims: str) -> None:
    tail = TAIL.replace("@ys, @yz", "@ws, @wz") if "Softmax" in call else TAIL
    text = written(f"{HEAD}@r = {call}{tail}", "float[1, 2, 4, 4] x", f"float[{dims}]", imports=MS)
    step = 0.02 if "Softmax" in call else 0.11
    done = assert_rewrite(PASS, text, feeds=[{"x": numbers(1, 2, 4, 4)}], atol=1.01 * step)
    (applied,) = done.with_status(Status.APPLIED)
    assert {site.accuracy for site in applied.sites} == {Accuracy.APPROXIMATE}


def test_refuses_what_float32_does_not_hold() -> None:
    body = HEAD + CONV.replace("{500, -700}", f"{{{2**24}, 0}}")
    text = written(body + TAIL, "float[1, 1, 5, 5] x", "float[1, 2, 5, 5]")
    assert_refused(PASS, text, "a sum of products may exceed 2**24")


def test_refuses_other_producers() -> None:
    body = "@y = DequantizeLinear (@q, @xs, @xz)"
    assert_refused(PASS, written(HEAD + body, "float[2] x", "float[2]"), "does not come from")


def test_leaves_other_operators_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
