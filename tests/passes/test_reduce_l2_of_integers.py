"""reduce-l2-of-integers: rounded down, at every edge."""

import math

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.integer_reductions import (
    check_all_axes,
    check_axes_as_an_input_and_in_a_branch,
    check_refusals,
    model_of,
    rows_of,
)

PASS = "reduce-l2-of-integers"
SQUARES = rows_of(
    np.int32, (3, 4), (-7, 2), (0,), (1,), (46340,), (46341,), (40000, 40000), (-(2**31), 5),
    (2**31 - 1, 2**31 - 1), (1, 1), (2, 1, 1, 1, 1), (4095, 90), (46340, 304),
)  # fmt: skip


@pytest.mark.parametrize("opset", [9, 11, 13])
def test_roots_are_rounded_down_and_saturate(opset: int) -> None:
    done = assert_rewrite(PASS, model_of("ReduceL2", opset=opset), feeds=[{"x": SQUARES}])
    wanted = [min(math.isqrt(sum(int(v) ** 2 for v in row)), 2**31 - 1) for row in SQUARES]
    assert outputs_of(done.after, {"x": SQUARES})["y"][:, 0].tolist() == wanted


def test_roots_next_to_squares() -> None:
    sums = [n * n + d for n in (2, 3, 10, 46340) for d in (-1, 0, 1)]
    x = rows_of(np.int32, *[_as_squares(n) for n in sums])
    done = assert_rewrite(PASS, model_of("ReduceL2"), feeds=[{"x": x}])
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == [math.isqrt(n) for n in sums]


def _as_squares(number: int) -> tuple[int, ...]:
    parts: list[int] = []
    while number:
        parts.append(math.isqrt(number))
        number -= parts[-1] ** 2
    return tuple(parts)


def test_axes_as_an_input_and_in_a_branch() -> None:
    check_axes_as_an_input_and_in_a_branch(PASS, "ReduceL2", [5, 18])


def test_all_axes_of_a_scalar_and_of_an_array() -> None:
    check_all_axes(PASS, "ReduceL2", lambda flat: math.isqrt(sum(v * v for v in flat)))


def test_refusals() -> None:
    check_refusals(PASS, "ReduceL2")
