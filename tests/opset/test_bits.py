"""Bits in arithmetic: against numpy, which has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfix
from graphfix.testing import outputs_of
from tests.opset.conversion import assert_converts, check, converted, model_of, reasons

ONNX_NAME = {"float16": "float16", "float32": "float", "float64": "double"}
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
CODES = {"int16": 5, "uint16": 4, "int32": 6, "uint32": 12, "int64": 7, "uint64": 13}
FLOAT_CODES = {"float16": 10, "float32": 1, "float64": 11}


def one(header: str, body: str, opset: int) -> Any:
    return model_of(f'<ir_version: 8, opset_import: ["" : 18]>\ng {header}\n{{ {body} }}', opset)


def integers(dtype: str) -> st.SearchStrategy[list[int]]:
    info = np.iinfo(dtype)
    edges = st.sampled_from([int(info.min), int(info.max), 0, 1, max(-1, int(info.min))])
    return st.lists(edges | st.integers(int(info.min), int(info.max)), min_size=4, max_size=4)


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_shifts_of_signed_integers(dtype: str, direction: str, data: st.DataObject) -> None:
    width = np.iinfo(dtype).bits
    x = data.draw(integers(dtype))
    by = data.draw(st.lists(st.integers(-2, width + 2), min_size=4, max_size=4))
    proto = one(
        f"({dtype}[4] x, {dtype}[4] s) => ({dtype}[4] y)",
        f'y = BitShift<direction = "{direction}">(x, s)',
        28,
    )
    result = converted(proto, 13)
    check(result)
    feed = {"x": np.array(x, dtype), "s": np.array(by, dtype)}
    wanted: list[int] = []
    for number, steps in zip(x, by, strict=True):
        if not 0 <= steps < width:
            wanted.append(-1 if direction == "RIGHT" and number < 0 else 0)
        elif direction == "RIGHT":
            wanted.append(number >> steps)
        else:
            low = (number << steps) & (2**width - 1)
            wanted.append(low - 2**width if low >= 2 ** (width - 1) else low)
    np.testing.assert_array_equal(outputs_of(result, feed)["y"], np.array(wanted, dtype))


def test_unsigned_shifts_stay() -> None:
    proto = one("(uint8[2] x) => (uint8[2] y)", 'y = BitShift<direction = "LEFT">(x, x)', 28)
    assert [n.op_type for n in converted(proto, 13).graph.node] == ["BitShift"]


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_bitwise(dtype: str, op: str, data: st.DataObject) -> None:
    left = np.array(data.draw(integers(dtype)), dtype).reshape(2, 2)
    right = np.array(data.draw(integers(dtype))[:2], dtype)
    proto = one(f"({dtype}[n,2] x, {dtype}[2] z) => ({dtype}[n,2] y)", f"y = Bitwise{op}(x, z)", 18)
    assert_converts(proto, 13, {"x": left, "z": right})


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_inverse(dtype: str, data: st.DataObject) -> None:
    x = np.array(data.draw(integers(dtype)), dtype)
    assert_converts(one(f"({dtype}[4] x) => ({dtype}[4] y)", "y = BitwiseNot(x)", 18), 13, {"x": x})


PAIRS = [
    ("float16", "int16"), ("float16", "uint16"), ("float32", "int32"), ("float32", "uint32"),
    ("float64", "int64"), ("float64", "uint64"),
]  # fmt: skip
EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, np.inf, -np.inf, 5e-324, 1e-40, -1e-45, 65504.0, 6e-8, 1e300]


@pytest.mark.parametrize(("floats", "whole"), PAIRS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_bits_of_floats(floats: str, whole: str, data: st.DataObject) -> None:
    bits = np.array(data.draw(integers(whole)), whole)
    random = bits.view(floats)
    with np.errstate(over="ignore"):
        x = np.concatenate([np.array(EDGES).astype(floats), random[~np.isnan(random)]])
    proto = one(
        f"({ONNX_NAME[floats]}[n] x) => ({whole}[n] y)",
        f"y = BitCast<to = {CODES[whole]}>(x)", 26,
    )  # fmt: skip
    result = converted(proto, 13)
    check(result)
    np.testing.assert_array_equal(outputs_of(result, {"x": x})["y"], x.view(whole))


@pytest.mark.parametrize(("floats", "whole"), PAIRS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_floats_of_bits(floats: str, whole: str, data: st.DataObject) -> None:
    with np.errstate(over="ignore"):
        edges = np.array([*EDGES, np.nan]).astype(floats).view(whole)
    x = np.concatenate([edges, np.array(data.draw(integers(whole)), whole)])
    proto = one(
        f"({whole}[n] x) => ({ONNX_NAME[floats]}[n] y)",
        f"y = BitCast<to = {FLOAT_CODES[floats]}>(x)", 26,
    )  # fmt: skip
    result = converted(proto, 13)
    check(result)
    given_, wanted = outputs_of(result, {"x": x})["y"], x.view(floats)
    np.testing.assert_array_equal(given_, wanted)
    kept = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(given_)[kept], np.signbit(wanted)[kept])


def test_bits_of_integers_and_a_nan() -> None:
    proto = one("(uint16[3] x) => (int16[3] y)", "y = BitCast<to = 5>(x)", 26)
    given_ = outputs_of(converted(proto, 13), {"x": np.array([0, 40000, 65535], np.uint16)})
    np.testing.assert_array_equal(given_["y"], np.array([0, -25536, -1], np.int16))
    proto = one("(float[1] x) => (uint32[1] y)", "y = BitCast<to = 12>(x)", 26)
    given_ = outputs_of(converted(proto, 13), {"x": np.array([np.nan], np.float32)})
    np.testing.assert_array_equal(given_["y"], [0x7FC00000])
    labels = {
        (site.accuracy, site.note)
        for outcome in graphfix.run(proto, opset=13).report.outcomes
        for site in outcome.sites
        if site.node.op == "BitCast"
    }
    assert labels == {(graphfix.APPROXIMATE, "the bits of each NaN are those of the usual one")}


def test_bits_become_no_bools() -> None:
    (reason,) = reasons(one("(uint8[2] x) => (bool[2] y)", "y = BitCast<to = 9>(x)", 26), 25)
    assert "whose bits have a counterpart in arithmetic; it is uint8" in reason
