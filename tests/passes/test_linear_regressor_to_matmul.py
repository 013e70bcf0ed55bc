"""linear-regressor-to-matmul: coefficients, intercepts and what becomes of the sums."""

from typing import Any

import pytest

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.ml_models import ROUNDED, model_of, rows

PASS = "linear-regressor-to-matmul"


@pytest.mark.parametrize("after", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
def test_two_targets(after: str) -> None:
    model = model_of(
        "LinearRegressor",
        ["N", 3],
        coefficients=[0.5, -1.0, 2.0, 1.5, 0.25, -0.5],
        intercepts=[0.1, -0.2],
        targets=2,
        post_transform=after,
    )
    assert_rewrite(PASS, model, feeds=[{"x": rows()}], **ROUNDED)


def test_one_target_without_intercept() -> None:
    model = model_of("LinearRegressor", ["N", 3], coefficients=[0.5, -1.0, 2.0])
    done = assert_rewrite(PASS, model, feeds=[{"x": rows()}], **ROUNDED)
    assert done.ops == ["MatMul"]


def test_refusals() -> None:
    one: dict[str, Any] = {"coefficients": [0.5, -1.0, 2.0], "intercepts": [1.0]}
    odd = model_of("LinearRegressor", ["N", 3], post_transform="LOGISTIC", **one)
    assert_refused(PASS, odd, "onnxruntime leaves it as it is")
    assert_refused(PASS, model_of("LinearRegressor", ["N", 4], **one), "must have 3 columns")
    assert_refused(PASS, model_of("LinearRegressor", ["N", 3], targets=2, **one), "of 2 targets")
    lost = model_of("LinearRegressor", ["N", 3], post_transform="PROBIT", **one)
    assert_refused(PASS, lost, "must not be transformed by PROBIT, which loses the last digits")
