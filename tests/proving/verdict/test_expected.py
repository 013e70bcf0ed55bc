"""What other inputs are expected to differ by."""

from __future__ import annotations

import numpy as np
import pytest

from graphfix.proving.verdict.expected import upper_limit


def test_too_few_inputs_and_none_that_differ_tell_nothing() -> None:
    assert upper_limit([0.1] * 7) is None
    assert upper_limit([0.0] * 20) is None
    assert upper_limit([]) is None


def test_equal_differences_are_expected_again() -> None:
    assert upper_limit([0.25] * 10) == pytest.approx(0.25)


def test_the_factor_is_that_of_the_tables() -> None:
    # Ten of 1 and ten of e**2: a mean of 1, a deviation of 1.026. The factor for 20 values, 99% of
    # which are to be covered at a confidence of 95%, is 3.295 (Odeh and Owen, 1980, table 1).
    limit = upper_limit([1.0] * 10 + [float(np.exp(2.0))] * 10)
    assert limit == pytest.approx(float(np.exp(1 + 3.295 * 1.026)), rel=0.05)


def test_a_difference_of_zero_is_no_outlier() -> None:
    assert upper_limit([0.0, *[0.1] * 9]) == upper_limit([0.1 / 8, *[0.1] * 9])


def test_nineteen_of_twenty_limits_cover_99_of_100_inputs() -> None:
    random = np.random.default_rng(0)
    drawn = np.exp(random.normal(-3.0, 0.4, (400, 21)))
    wide = float(np.exp(-3.0 + 2.326 * 0.4))  # what 99 of 100 stay below
    limits = [upper_limit(list(map(float, each))) or 0.0 for each in drawn]
    assert sum(limit >= wide for limit in limits) >= 0.93 * len(limits)
