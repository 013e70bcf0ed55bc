"""aten-clamp: limits of numbers."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_clamp import FAMILY
from tests.passes.aten_models import aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-clamp"
A = np.array([[-2.5, -1, -0.0], [0, 1.5, 3]], np.float32)
K = np.array([[-7, -3, -1], [0, 4, 9]], np.int64)
LIMITS = [(-1, 2), (None, 1.5), (0.5, None), (3, 1)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("low", "high"), LIMITS)
def test_limits_that_are_numbers(low: Any, high: Any, dynamic: bool) -> None:
    for x in (A, K, A.astype(np.float16)):
        replaced(PASS, FAMILY.evaluate, "clamp", [x, low, high], dynamic=dynamic)


def test_limits_that_are_tensors() -> None:
    low, high = np.array([-1, 0, 1], np.float32), np.array([[2], [1]], np.float32)
    replaced(PASS, FAMILY.evaluate, "clamp", [A, low, high], fed=3, overload="Tensor")
    replaced(PASS, FAMILY.evaluate, "clamp_min", [K, 2])
    replaced(PASS, FAMILY.evaluate, "clamp_max", [A, high], fed=2, overload="Tensor")


@pytest.mark.parametrize("operator", ["maximum", "minimum", "fmax", "fmin"])
def test_the_larger_and_the_smaller(operator: str) -> None:
    for other in (np.array([1, np.nan, -2], np.float32), np.array([0, 5, -2], np.int64)):
        if operator.startswith("f") or other.dtype == np.int64:
            replaced(PASS, FAMILY.evaluate, operator, [A, other], fed=2)
            replaced(PASS, FAMILY.evaluate, operator, [other, A], fed=2, dynamic=True)


def test_steps_and_what_is_no_number() -> None:
    replaced(PASS, FAMILY.evaluate, "relu", [A])
    replaced(PASS, FAMILY.evaluate, "relu", [K])
    replaced(PASS, FAMILY.evaluate, "heaviside", [A, np.array([0.5, 2, 7], np.float32)], fed=2)
    x = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    done = replaced(PASS, FAMILY.evaluate, "nan_to_num", [x, 2, None, -5])
    largest = np.finfo(np.float32).max
    assert outputs_of(done.after, {"x0": x})["y0"].tolist() == [2, largest, -5, 1]


def test_integers_below_opset_12() -> None:
    replaced(PASS, FAMILY.evaluate, "clamp", [K.astype(np.int32), -1, 2], opset=11)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("relu", [2, 3])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
