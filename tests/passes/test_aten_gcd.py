"""aten-gcd: common divisors and multiples of integers by Euclid's algorithm."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_gcd import FAMILY
from tests.passes.aten_models import Array, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-gcd"
INTEGERS = (np.int64, np.int32)


def computed(operator: str, a: Array, b: Array) -> Array:
    model, feed = called(operator, [a, b], [a], fed=2)
    y: Array = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    return y


def longest(dtype: Any) -> tuple[int, int]:
    """Return the two largest Fibonacci numbers of a type, which need the most steps."""
    pair = (1, 2)
    while sum(pair) <= int(np.iinfo(dtype).max):
        pair = (pair[1], sum(pair))
    return pair


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_longest_chains_of_remainders(dtype: Any) -> None:
    low, high = longest(dtype)
    a = np.array([low, high, high, 0, 0, 5, high], dtype)
    b = np.array([high, low, high, 0, 7, 0, high - low], dtype)
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    wanted = np.array([math.gcd(*pair) for pair in pairs], dtype)
    np.testing.assert_array_equal(computed("gcd", a, b), wanted)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_any_numbers_of_a_type(dtype: Any) -> None:
    limits: Any = np.iinfo(dtype)
    rng = np.random.default_rng(4)
    a, b = rng.integers(int(limits.min) + 1, int(limits.max), (2, 300)).astype(dtype)
    done = replaced(PASS, FAMILY.evaluate, "gcd", [a, b], fed=2)
    assert "Loop" in done.ops
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    wanted = np.array([math.gcd(*pair) for pair in pairs], dtype)
    np.testing.assert_array_equal(computed("gcd", a, b), wanted)


def test_multiples() -> None:
    a, b = np.array([4, -6, 0, 7, 0, 2**40]), np.array([6, 4, 5, 0, 0, 2**39 + 2**20])
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    wanted = np.array([math.lcm(*pair) for pair in pairs])
    np.testing.assert_array_equal(computed("lcm", a, b), wanted)
    few = [side[:5].astype(np.int32) for side in (a, b)]
    replaced(PASS, FAMILY.evaluate, "lcm", few, fed=2)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_shapes_that_broadcast(dynamic: bool, opset: int) -> None:
    a = np.array([[4], [6], [35]])
    for b in (np.array([8, 9, 12, 10]), np.array(8), np.array([[3]])):
        replaced(PASS, FAMILY.evaluate, "gcd", [a, b], fed=2, dynamic=dynamic, opset=opset)
        replaced(PASS, FAMILY.evaluate, "lcm", [b, a], fed=2, dynamic=dynamic, opset=opset)


def test_operands_of_two_types_and_a_number() -> None:
    a = np.array([12, 18], np.int32)
    replaced(PASS, FAMILY.evaluate, "gcd", [a, np.array([8, 27])], fed=2)
    replaced(PASS, FAMILY.evaluate, "gcd", [a, np.array(8)])


def test_in_a_branch() -> None:
    model = aten_model("gcd", [2], [np.array([8, 9])], dtype=TensorProto.INT64)
    done = run_pass(PASS, in_branch(model))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": np.array([12, 6]), "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, [4, 3])


@given(st.lists(st.tuples(*[st.integers(-(2**63) + 1, 2**63 - 1)] * 2), min_size=1, max_size=9))
def test_any_pair(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    wanted = np.array([math.gcd(*pair) for pair in pairs])
    np.testing.assert_array_equal(computed("gcd", a, b), wanted)
