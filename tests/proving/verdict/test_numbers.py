"""The rule of the comparison, in numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphfix.proving.values.kinds import Value
from graphfix.proving.verdict.numbers import compare, magnitudes, tolerance


def f32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("before", "after", "equal"),
    [
        (f32(1, np.nan), f32(1, np.nan), True),
        (f32(1, np.nan), f32(np.nan, 1), False),
        (f32(np.inf), f32(np.inf), True),
        (f32(np.inf), f32(-np.inf), False),
        (f32(np.inf), f32(3e38), False),
        (f32(1.0), f32(1 + 4e-7), True),
        (f32(1.0), f32(1 + 4e-6), False),
        (f32(1000, 1), f32(1000, 1.0005), True),
        (f32(0), f32(1e-30), False),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([True]), np.array([False]), False),
        (np.array(["a"], object), np.array(["b"], object), False),
        (np.array(["a"], object), np.array(["a"]), True),
        ([f32(1)], [f32(1), f32(2)], False),
        ({"a": 1.0}, {"a": 1.0}, True),
        ({"a": 1.0}, {"b": 1.0}, False),
        (None, f32(1), False),
        (None, None, True),
    ],
)
def test_what_is_equal(before: Value, after: Value, equal: bool) -> None:
    assert compare(before, after).equal is equal


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (f32(1), np.array([1.0]), "dtype float32 -> float64"),
        (f32(1, 2), f32(1), "shape [2] -> [1]"),
        ([f32(1)], f32(1), "sequence of 1 -> tensor"),
    ],
)
def test_what_no_number_can_be_given_for(before: Value, after: Value, reason: str) -> None:
    found = compare(before, after)
    assert found.structural
    assert found.reason == reason
    assert found.max_abs is None


def test_the_largest_difference_is_measured_against_the_magnitude() -> None:
    found = compare(f32(4, 2), f32(4, 3))
    assert found.max_abs == 1.0
    assert found.max_rel == 0.25


def test_large_integers_are_compared_exactly() -> None:
    found = compare(np.array([2**62]), np.array([2**62 + 1]))
    assert not found.equal
    assert found.max_abs == 1.0


def test_noise_raises_the_tolerance_up_to_the_cap() -> None:
    assert tolerance(np.dtype("float32"), 1.0, 0.0) == pytest.approx(8 * 2**-23)
    assert tolerance(np.dtype("float32"), 1.0, 1e-5) == pytest.approx(8e-5)
    assert tolerance(np.dtype("float32"), 1.0, 1.0) == 1e-3
    assert tolerance(np.dtype("float16"), 2.0, 1.0) == 2e-2
    assert tolerance(np.dtype(ml_dtypes.bfloat16), 1.0, 1.0) == 2**-6
    assert tolerance(np.dtype("float64"), 1.0, 1.0) == 1e-7


def test_noise_is_looked_up_by_label() -> None:
    before: Value = [f32(1), f32(1)]
    after: Value = [f32(1), f32(1.0001)]
    assert not compare(before, after, {"[0]": 1e-4}).equal
    assert compare(before, after, {"[1]": 1e-4}).equal


def test_values_of_a_map_are_rounded_at_the_magnitude_of_its_largest() -> None:
    """1 - p of a p near 1 takes over the rounding of p: one unit of 1 is 14 of 0.087."""
    one = np.float32(1)
    p = np.float32(0.9128)
    before: Value = [{0: one - p, 1: p}]
    moved = np.nextafter(np.nextafter(p, one), one)
    assert abs(float((one - moved) - (one - p))) > tolerance(np.dtype("float32"), 0.0872, 0.0)
    assert compare(before, [{0: one - moved, 1: moved}]).equal
    wrong = p + np.float32(2e-6)
    found = compare(before, [{0: one - wrong, 1: wrong}])
    assert found.reason == "1 of 1 elements differ by up to 2.03e-06, 8.71e-07 would be rounding"
    assert not compare(before, [{0: one - p + np.float32(2e-6), 1: p}]).equal


def test_the_rows_of_a_list_of_maps_have_magnitudes_of_their_own() -> None:
    value: Value = [{"a": np.float32(0.25), "b": np.float32(-4)}, {"a": np.float32(2), "b": f32(1)}]
    sizes = {"[0]['a']": 4.0, "[0]['b']": 4.0, "[1]['a']": 2.0, "[1]['b']": 2.0}
    assert magnitudes(value) == sizes
    assert magnitudes([{1: np.array(3)}, {}, None]) == {}
