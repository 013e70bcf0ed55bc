"""What opset 11, 10 and 9 lack, written in what they have, against onnxruntime on the source."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfix
from graphfix.testing import outputs_of
from tests.opset.conversion import (
    assert_converts,
    check,
    converted,
    model_of,
    operators,
    reasons,
)

RNG = np.random.default_rng(11)


def text(opset: int, header: str, body: str) -> str:
    return f'<ir_version: 8, opset_import: ["" : {opset}]>\ng {header}\n{{ {body} }}'


@pytest.mark.parametrize(("opset", "ir"), [(18, 10), (17, 10), (15, 8), (13, 7), (9, 4)])
def test_the_ir_version_follows_the_opset_down(opset: int, ir: int) -> None:
    proto = model_of(text(17, "(float[2] x) => (float[2] y)", "y = HardSwish(x)"))
    proto.ir_version = 10
    result = graphfix.run(proto, opset=opset)
    assert (result.exit_code, result.model.opset) == (0, opset)
    assert result.model.to_proto().ir_version == ir


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(("axis", "shape"), [(1, "2,3,4"), (-1, "a,b,c")])
def test_the_last_of_equal_ones(op: str, keepdims: int, axis: int, shape: str) -> None:
    x = np.array([1, 2, 2, 1, 2, 1] * 4, np.float32).reshape(2, 3, 4)
    out = "p,q,r" if keepdims else "p,q"
    body = f"y = {op}<axis = {axis}, keepdims = {keepdims}, select_last_index = 1>(x)"
    proto = model_of(text(12, f"(float[{shape}] x) => (int64[{out}] y)", body))
    assert_converts(proto, 11, {"x": x})


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_pooling_of_small_integers(kind: str) -> None:
    x = RNG.integers(0, 127, size=(1, 1, 4, 4)).astype(kind)
    body = "y = MaxPool<kernel_shape = [2, 2], pads = [1, 0, 0, 1]>(x)"
    proto = model_of(text(12, f"({kind}[1,1,4,4] x) => ({kind}[1,1,p,q] y)", body))
    assert_converts(proto, 11, {"x": x}, ops=["Cast", "MaxPool", "Cast"])


def test_a_pad_value_that_is_no_float32_is_not_rounded() -> None:
    pads = "p = Constant<value = int64[2] {1, 0}>() v = Constant<value = double {%s}>() "
    header = "(double[3] x) => (double[4] y)"
    blocked = model_of(text(11, header, pads % "0.1" + "y = Pad(x, p, v)"))
    assert any(
        "constant_value must be a float32, as opset 10 has it; 0.1 is none" in reason
        for reason in reasons(blocked, 10)
    )
    fits = model_of(text(11, header, pads % "0.25" + "y = Pad(x, p, v)"))
    assert_converts(fits, 10, {"x": np.arange(3, dtype=np.float64)}, ops=["Pad"])


@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [
        ("3,4", [[0, -1], [2, 1]], 1),
        ("a,b", [[0, -1], [2, 1]], 0),
        ("a,b", [[3, 0, -4, 1]], 1),
    ],
)
def test_gather_elements(shape: str, indices: list[list[int]], axis: int) -> None:
    data = RNG.normal(size=(3, 4)).astype(np.float32)
    body = f"y = GatherElements<axis = {axis}>(x, i)"
    proto = model_of(text(11, f"(float[{shape}] x, int64[m,n] i) => (float[m,n] y)", body))
    feed = {"x": data, "i": np.array(indices, np.int64)}
    result = assert_converts(proto, 10, feed)
    assert "GatherElements" not in operators(result)


@pytest.mark.parametrize(("kind", "casts"), [("uint8", 2), ("int16", 2), ("uint32", 2)])
def test_small_integers_are_compared_in_a_wider_type(kind: str, casts: int) -> None:
    info = np.iinfo(kind)
    x = np.array([info.min, 1, info.max], kind)
    y = np.array([info.max, 1, info.max], kind)
    proto = model_of(text(11, f"({kind}[3] x, {kind}[3] y) => (bool[3] z)", "z = Equal(x, y)"))
    # onnxruntime has no kernel for some of them, so the numbers are those of numpy.
    result = converted(proto, 10)
    check(result)
    assert operators(result) == ["Cast"] * casts + ["Equal"]
    assert outputs_of(result, {"x": x, "y": y})["z"].tolist() == [False, True, True]


@pytest.mark.parametrize("kind", ["int64", "float"])
def test_one_hot_of_indices_outside_of_the_range(kind: str) -> None:
    signature = f"(int64[6] i, {kind} d, float[2] v) => (float[6,n] y)"
    proto = model_of(text(11, signature, "y = OneHot(i, d, v)"))
    feed = {
        "i": np.array([0, 2, 3, -1, -3, -4], np.int64),
        "d": np.array(3, np.float32 if kind == "float" else np.int64),
        "v": np.array([1, 5], np.float32),
    }
    result = assert_converts(proto, 9, feed)
    rows = outputs_of(result, feed)["y"]
    assert [row.tolist().index(5) if 5 in row else None for row in rows] == [0, 2, None, 2, 0, None]


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ("", [False, True, True, False, False]),
        ("<detect_negative = 0>", [False, True, False, False, False]),
        ("<detect_positive = 0>", [False, False, True, False, False]),
        ("<detect_positive = 0, detect_negative = 0>", [False] * 5),
    ],
)
def test_infinities(attributes: str, wanted: list[bool]) -> None:
    x = np.array([1, math.inf, -math.inf, math.nan, np.finfo(np.float32).max], np.float32)
    body = f"y = IsInf{attributes}(x)"
    proto = model_of(text(10, "(float[5] x) => (bool[5] y)", body))
    result = assert_converts(proto, 9, {"x": x})
    assert outputs_of(result, {"x": x})["y"].tolist() == wanted


def test_a_threshold() -> None:
    x = np.array([-1, 0.5, 1, 1.5, math.inf], np.float32)
    body = "y = ThresholdedRelu<alpha = 1.0>(x)"
    proto = model_of(text(10, "(float[5] x) => (float[5] y)", body))
    assert_converts(proto, 9, {"x": x}, ops=["Greater", "Where"])


@pytest.mark.parametrize("axis", [1, -1])
def test_scan_has_no_negative_axes(axis: int) -> None:
    body = (
        f"y, z = Scan<num_scan_inputs = 1, scan_input_axes = [{axis}], "
        "body = b (float[2] s, float[2] e) => (float[2] t, float[2] o) "
        "{ t = Add(s, e) o = Neg(t) }>(h, x)"
    )
    proto = model_of(text(11, "(float[2] h, float[2,3] x) => (float[2] y, float[3,2] z)", body))
    feed = {"h": np.zeros(2, np.float32), "x": RNG.normal(size=(2, 3)).astype(np.float32)}
    if axis < 0:
        assert reasons(proto, 10) == [
            "Scan: scan_input_axes must not be negative at opset 10; it is"
        ]
    else:
        assert_converts(proto, 10, feed, ops=["Scan"])


@pytest.mark.parametrize("steps", [None, [1, 1]])
@pytest.mark.parametrize(
    ("starts", "ends"),
    [([1, -3], [3, 4]), ([-9, 0], [9, -1]), ([2, 1], [1, 1]), ([0, 0], [2**40] * 2)],
)
def test_a_slice_with_computed_bounds(
    starts: list[int], ends: list[int], steps: list[int] | None
) -> None:
    extra = ", int64[2] t" if steps else ""
    given_steps = ", , t" if steps else ""
    proto = model_of(
        text(
            10,
            f"(float[a,b] x, int64[2] s, int64[2] e{extra}) => (float[p,q] y)",
            f"y = Slice(x, s, e{given_steps})",
        )
    )
    feed: dict[str, Any] = {
        "x": RNG.normal(size=(4, 5)).astype(np.float32),
        "s": np.array(starts, np.int64),
        "e": np.array(ends, np.int64),
    }
    if steps:
        assert reasons(proto, 9) == ["Slice: steps must be a constant; it is computed at run time"]
        return
    result = assert_converts(proto, 9, feed)
    assert operators(result).count("Compress") == 2


@given(
    start=st.integers(-8, 8),
    end=st.integers(-8, 8),
    step=st.sampled_from([-3, -2, -1, 1, 2, 3]),
)
@settings(max_examples=40, deadline=None)
def test_any_slice_of_known_size(start: int, end: int, step: int) -> None:
    x = np.arange(5, dtype=np.float32)
    body = (
        f"s = Constant<value = int64[1] {{{start}}}>() e = Constant<value = int64[1] {{{end}}}>() "
        f"a = Constant<value = int64[1] {{0}}>() t = Constant<value = int64[1] {{{step}}}>() "
        "y = Slice(x, s, e, a, t)"
    )
    proto = model_of(text(10, "(float[5] x) => (float[n] y)", body))
    assert_converts(proto, 9, {"x": x})
