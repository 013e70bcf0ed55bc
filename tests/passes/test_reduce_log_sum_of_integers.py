"""reduce-log-sum-of-integers: rounded down, at every edge."""

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

PASS = "reduce-log-sum-of-integers"


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("opset", [9, 13])
def test_logarithms_are_rounded_down(kind: str, opset: int) -> None:
    dtype = np.dtype(kind)
    sums = [1, 2, 3, 7, 8, 20, 21, 8886110, 8886111, 2**31 - 1, 0, -1, -5]
    rows = [(n,) for n in sums] + [(2**31 - 1, 2**31 - 1)]
    x = rows_of(dtype, *rows)
    done = assert_rewrite(PASS, model_of("ReduceLogSum", kind, opset), feeds=[{"x": x}])
    low = int(np.iinfo(dtype).min)
    wanted = [0, 0, 1, 1, 2, 2, 3, 15, 16, 21, low, low, low, 22]
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == wanted


def test_every_power_of_e_counts_from_its_integer_on() -> None:
    powers = [math.ceil(math.e**k) for k in range(1, 30)]  # float64 holds them to the unit
    x = np.array([[n + d] for n in powers for d in (-1, 0)], np.int64)
    done = assert_rewrite(PASS, model_of("ReduceLogSum", "int64"), feeds=[{"x": x}])
    wanted = [k + d for k in range(1, 30) for d in (-1, 0)]
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == wanted


def test_axes_as_an_input_and_in_a_branch() -> None:
    check_axes_as_an_input_and_in_a_branch(PASS, "ReduceLogSum", [2, 3])


def test_all_axes_of_a_scalar_and_of_an_array() -> None:
    check_all_axes(PASS, "ReduceLogSum", lambda flat: int(math.log(sum(flat))))


def test_refusals() -> None:
    check_refusals(PASS, "ReduceLogSum")
