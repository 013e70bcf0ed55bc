"""reduce-l2-of-integers: rounded down, at every edge."""

import math

from tests.passes.integer_reductions import (
    check_all_axes,
    check_axes_as_an_input_and_in_a_branch,
    check_refusals,
)

PASS = "reduce-l2-of-integers"


def test_axes_as_an_input_and_in_a_branch() -> None:
    check_axes_as_an_input_and_in_a_branch(PASS, "ReduceL2", [5, 18])


def test_all_axes_of_a_scalar_and_of_an_array() -> None:
    check_all_axes(PASS, "ReduceL2", lambda flat: math.isqrt(sum(v * v for v in flat)))


def test_refusals() -> None:
    check_refusals(PASS, "ReduceL2")
