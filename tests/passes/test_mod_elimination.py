"""mod-elimination: integers to their extremes, floats against C's fmod, and what it refuses."""

import math
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from graphfix.report import APPROXIMATE, EXACT, Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass

Array = np.ndarray[Any, Any]
PASS = "mod-elimination"
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def model(dtype: str, fmod: int, divisor: Array | None = None, opset: int = 13) -> onnx.ModelProto:
    """Return ``z = Mod(a, b)``, of any shapes, with a constant or a computed divisor."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    inputs = [helper.make_tensor_value_info("a", kind, ["M"])]
    constants: list[TensorProto] = []
    if divisor is None:
        inputs.append(helper.make_tensor_value_info("b", kind, ["M"]))
    else:
        constants.append(numpy_helper.from_array(divisor.astype(dtype), "b"))
    rank = 1 if divisor is None else max(divisor.ndim, 1)
    graph = helper.make_graph(
        [helper.make_node("Mod", ["a", "b"], ["z"], name="mod", fmod=fmod)],
        "g",
        inputs,
        [helper.make_tensor_value_info("z", kind, [None] * rank)],
        constants,
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def remainder(a: int, b: int, fmod: int) -> int:
    """Return the remainder of two integers of any size by its definition."""
    rest = abs(a) % abs(b)
    if fmod:
        return -rest if a < 0 else rest
    return a - b * (a // b)


def extremes(dtype: str) -> list[int]:
    info = np.iinfo(dtype)
    middle = [-7, -6, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7, 100]
    edges = [info.min, info.min + 1, info.min // 2, info.max // 2, info.max - 1, info.max]
    return sorted({v for v in middle + edges if info.min <= v <= info.max})


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("opset", [10, 13, 21])
def test_integers_are_exact_to_their_extremes(dtype: str, fmod: int, opset: int) -> None:
    values = extremes(dtype)
    divisors = [b for b in values if b]
    small = [b for b in divisors if abs(b) <= 2**30]
    for chosen in (divisors, small, [b for b in small if b > 0], [b for b in small if b < 0]):
        if not chosen:
            continue
        column = np.array(chosen, dtype=dtype)[:, np.newaxis]
        done = run_pass(PASS, model(dtype, fmod, column, opset))
        assert done.with_status(Status.APPLIED)
        assert {"Mod", "Floor"}.isdisjoint(done.ops)
        onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
        given_ = outputs_of(done.after, {"a": np.array(values, dtype=dtype)})["z"]
        wanted = [[remainder(a, b, fmod) for a in values] for b in chosen]
        assert given_.dtype == np.dtype(dtype)
        assert given_.tolist() == wanted


def test_a_small_divisor_needs_no_comparison() -> None:
    done = run_pass(PASS, model("int32", 0, np.array(7)))
    assert done.ops == ["Div", "Mul", "Sub", "Add", "Div", "Mul", "Sub"]
    assert done.with_status(Status.APPLIED)[0].sites[0].accuracy is EXACT


def test_a_large_divisor_is_compared() -> None:
    done = run_pass(PASS, model("int32", 0, np.array(2**30 + 1)))
    assert done.ops == ["Div", "Mul", "Sub", "Less", "Add", "Where"]


def test_ir_version_3_gets_no_initializers() -> None:
    text = """<ir_version: 3, opset_import: ["": 10]>
    g (int64[N] a) => (int64[N] z) { five = Constant<value = int64 {5}>()  z = Mod(a, five) }"""
    done = assert_rewrite(PASS, text, feeds=[{"a": np.arange(-8, 8)}])
    assert not done.after.graph.initializer


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_word_of_the_user_is_taken(dtype: str, fmod: int) -> None:
    values = extremes(dtype)
    pairs = [(a, b) for a in values for b in values if b]
    done = run_pass(PASS, model(dtype, fmod), options={"assume_nonzero": True})
    feed = {
        "a": np.array([a for a, _ in pairs], dtype=dtype),
        "b": np.array([b for _, b in pairs], dtype=dtype),
    }
    given_ = outputs_of(done.after, feed)["z"].tolist()
    assert given_ == [remainder(a, b, fmod) for a, b in pairs]
    assert "no divisor is 0" in done.with_status(Status.APPLIED)[0].sites[0].note


@pytest.mark.parametrize("dtype", INTEGERS)
def test_refuses_what_may_divide_by_zero(dtype: str) -> None:
    assert_refused(
        PASS,
        model(dtype, 0),
        "the divisor must be known not to be 0, nor -1 for the smallest dividend",
    )
    assert_refused(
        PASS, model(dtype, 1, np.array([2, 0, 3])), "the divisor must not hold 0; it does"
    )


def float_cases(dtype: str) -> list[tuple[Array, Array]]:
    """Return dividends and divisors that a plain division gets wrong."""
    rng = np.random.default_rng(1)
    cases: list[tuple[Array, Array]] = []
    counts = np.arange(-3000, 3001)
    for b in (0.1, 0.3, 1 / 3, 3.14159, 1e-3):
        divisor = np.asarray(b, dtype=dtype)
        cases.append(((counts * divisor).astype(dtype), np.full(counts.shape, divisor)))
    x, y = rng.standard_normal((2, 20000)).astype(dtype)
    cases.append((x, y))
    bits = {"float16": 14, "float32": 46, "float64": 104}[dtype]
    scale = np.array(2.0 ** rng.uniform(0, bits, y.shape), dtype=np.float64)
    large = np.abs(y).astype(np.float64) * scale
    large = np.clip(large, 0, float(np.finfo(dtype).max))
    cases.append((np.copysign(large, x).astype(dtype), y))
    tiny = np.finfo(dtype).smallest_subnormal
    cases.append((rng.integers(-900, 900, 900) * tiny, rng.integers(1, 90, 900) * tiny))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5, -0.75], dtype=dtype)
    a, b = np.meshgrid(special, special)
    cases.append((a.reshape(-1), b.reshape(-1)))
    return [(a.astype(dtype), b.astype(dtype)) for a, b in cases]


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_equal_fmod_bit_for_bit(dtype: str) -> None:
    done = run_pass(PASS, model(dtype, 1))
    site = done.with_status(Status.APPLIED)[0].sites[0]
    assert site.accuracy is (EXACT if dtype == "float16" else APPROXIMATE)
    assert ("quotients below 2**" in site.note) == (dtype != "float16")
    for a, b in float_cases(dtype):
        with np.errstate(invalid="ignore"):
            wanted = np.fmod(a, b)
        np.testing.assert_array_equal(outputs_of(done.after, {"a": a, "b": b})["z"], wanted)


def test_every_float16_pair_of_a_sample_of_bit_patterns() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2**16, (2, 100_000), dtype=np.uint16).view(np.float16)
    done = run_pass(PASS, model("float16", 1))
    with np.errstate(invalid="ignore"):
        wanted = np.fmod(a, b)
    np.testing.assert_array_equal(outputs_of(done.after, {"a": a, "b": b})["z"], wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_remainder_has_the_sign_of_the_divisor(dtype: str) -> None:
    done = run_pass(PASS, model(dtype, 0))
    for a, b in float_cases(dtype)[:-1]:
        rest = np.fmod(a, b)
        wanted = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
        np.testing.assert_array_equal(outputs_of(done.after, {"a": a, "b": b})["z"], wanted)


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("divisor", [0.1, -0.3, math.inf, 0.0, math.nan, 3e4])
def test_constant_float_divisors(dtype: str, fmod: int, divisor: float) -> None:
    b = np.array(divisor, dtype=dtype)
    a = np.linspace(-40, 40, 801).astype(dtype)
    done = run_pass(PASS, model(dtype, fmod, b))
    with np.errstate(invalid="ignore"):
        wanted = np.fmod(a, b)
        if not fmod:
            wanted = np.where((wanted != 0) & ((wanted < 0) != (b < 0)), wanted + b, wanted)
    np.testing.assert_array_equal(outputs_of(done.after, {"a": a})["z"], wanted)


def test_a_large_constant_divisor_does_not_overflow() -> None:
    done = run_pass(PASS, model("float32", 1, np.array(3e37)))
    a = np.array([1e38, 3e38, -2e38, 1.0], dtype=np.float32)
    wanted = np.fmod(a, np.float32(3e37))
    np.testing.assert_array_equal(outputs_of(done.after, {"a": a})["z"], wanted)


def test_bfloat16_is_computed_as_float32() -> None:
    text = """<ir_version: 8, opset_import: ["": 13]>
    g (float[K] a, float[K] b) => (float[K] z) {
        x = Cast<to = 16>(a)
        y = Cast<to = 16>(b)
        m = Mod<fmod = 1>(x, y)
        z = Cast<to = 1>(m)
    }"""
    done = run_pass(PASS, text)
    a = np.array([5.5, -7.25, 100.0, 3.0], dtype=np.float32)
    b = np.array([2.0, 2.5, -0.375, 8.0], dtype=np.float32)
    np.testing.assert_array_equal(outputs_of(done.after, {"a": a, "b": b})["z"], np.fmod(a, b))


def test_in_a_branch_and_in_a_function() -> None:
    text = """<ir_version: 8, opset_import: ["": 17, "own": 1]>
    g (bool c, int32[K] a) => (int32[K] z, int32[K] w) {
        z = If (c) <
            then_branch = t () => (int32[K] p) {
                five = Constant<value = int32 {5}> ()
                p = Mod(a, five)
            },
            else_branch = e () => (int32[K] q) { q = Identity(a) }
        >
        w = own.wrap(a)
    }
    <domain: "own", opset_import: ["": 17]>
    wrap (v) => (r) { three = Constant<value = int32 {-3}> ()  r = Mod(v, three) }"""
    a = np.arange(-9, 9, dtype=np.int32)
    feeds = [{"c": np.array(chosen), "a": a} for chosen in (True, False)]
    done = assert_rewrite(PASS, text, feeds=feeds)
    assert len(done.with_status(Status.APPLIED)[0].sites) == 2
    given_ = outputs_of(done.after, feeds[0])
    assert given_["z"].tolist() == (a % 5).tolist()
    assert given_["w"].tolist() == (a % -3).tolist()


@given(
    dtype=st.sampled_from(("int8", "int32", "int64", "uint8")),
    fmod=st.integers(0, 1),
    data=st.data(),
)
def test_any_integers(dtype: str, fmod: int, data: st.DataObject) -> None:
    info = np.iinfo(dtype)
    number = st.integers(int(info.min), int(info.max))
    size = data.draw(st.integers(1, 6))
    a = data.draw(st.lists(number, min_size=size, max_size=size))
    b = data.draw(st.lists(number.filter(bool), min_size=size, max_size=size))
    done = run_pass(PASS, model(dtype, fmod, np.array(b, dtype=dtype)))
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)
    given_ = outputs_of(done.after, {"a": np.array(a, dtype=dtype)})["z"].tolist()
    assert given_ == [remainder(x, y, fmod) for x, y in zip(a, b, strict=True)]
