"""aten-softmax: what works along one axis."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import run_pass
from passes.aten.aten_softmax import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-softmax"
X = array_of(2, 4, 6)
K = (X * 9).astype(np.int64)


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("operator", ["softmax", "log_softmax"])
def test_shares_along_any_axis(operator: str, axis: int, opset: int) -> None:
    for dynamic in (False, True):
        arguments = [X, axis, None]
        replaced(PASS, FAMILY.evaluate, operator, arguments, overload="int", opset=opset,
                 rtol=1e-5, atol=1e-6, dynamic=dynamic)  # fmt: skip
    replaced(PASS, FAMILY.evaluate, operator, [K, axis, 6], overload="int", rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dynamic", [False, True])
def test_sums_up_to_each_place(dynamic: bool) -> None:
    for x in (X, K, K.astype(np.int32)):
        replaced(PASS, FAMILY.evaluate, "cumsum", [x, -2, None], rtol=1e-5, dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
def test_half_gates_the_other_half(dynamic: bool) -> None:
    for axis in (1, -1):
        replaced(PASS, FAMILY.evaluate, "glu", [X, axis], rtol=1e-5, dynamic=dynamic)


@pytest.mark.parametrize("largest", [0, 1])
def test_the_largest_and_the_smallest(largest: int) -> None:
    for axis, k in ((0, 1), (-1, 4)):
        for dynamic in (False, True):
            arguments = [X, k, axis, largest, 1]
            replaced(PASS, FAMILY.evaluate, "topk", arguments, dynamic=dynamic)
        distinct = np.argsort(X.ravel()).reshape(X.shape)
        replaced(PASS, FAMILY.evaluate, "topk", [distinct, k, axis, largest, 1], used=1)


@pytest.mark.parametrize("operator", ["trapezoid", "cumulative_trapezoid"])
@pytest.mark.parametrize("axis", [0, -1])
def test_areas(operator: str, axis: int) -> None:
    how: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}
    for y in (X, K):
        replaced(PASS, FAMILY.evaluate, operator, [y, 0.5, axis], overload="dx", **how)
        points = np.square(np.arange(y.shape[axis], dtype=y.dtype))
        several: list[Any] = [points, y[::-1].copy()]
        for x in several:
            replaced(PASS, FAMILY.evaluate, operator, [y, x, axis], overload="x", fed=2, **how)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("softmax", [4], [np.array(0)], overload="int")))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
