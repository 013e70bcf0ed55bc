"""aten-bessel-i: I0 and I1 by their series, scaled and not."""

import math
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_bessel_i import FAMILY, KINDS
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model
from tests.passes.resize_models import in_branch

PASS = "aten-bessel-i"
SCALED = ("special_i0e", "special_i1e")
# NIST Digital Library of Mathematical Functions / Abramowitz and Stegun, table 9.8.
TABLE = {
    "special_i0": {1.0: 1.2660658777520082, 10.0: 2815.7166284662544},
    "special_i1": {1.0: 0.5651591039924851, 10.0: 2670.9883037012544},
    "special_i0e": {1.0: 0.46575960759364043, 10.0: 0.12783333716342862, 100.0: 0.0399443792990967},
    "special_i1e": {1.0: 0.2079104153497085, 10.0: 0.1212626813844555, 100.0: 0.0397441530251303},
}


def scaled(x: float, order: int) -> float:
    """Return exp(-x) * I(x) for x from 0 on, by the power series or Hankel's."""
    if x < 60:
        q, term, total = x * x / 4, 1.0, 0.0
        for k in range(1, 200):
            total += term
            term *= q / (k * (k + order))
        return total * math.exp(-x) * (x / 2 if order else 1.0)
    term, total = 1.0, 0.0
    for k in range(1, 12):
        total += term
        term *= -(4 * order - (2 * k - 1) ** 2) / (8 * k * x)
    return total / math.sqrt(2 * math.pi * x)


def exact(operator: str, x: Array) -> Array:
    order, is_scaled = KINDS[operator]
    values: list[float] = []
    for number in x.ravel().tolist():
        value = scaled(abs(number), order) * (1 if is_scaled else math.exp(abs(number)))
        values.append(math.copysign(value, number) if order else value)
    return np.array(values).reshape(x.shape)


def rewritten(model: ModelProto) -> ModelProto:
    """Return the result of the pass, after asserting that it says what it is."""
    done = run_pass(PASS, model)
    sites = [site for o in done.with_status(Status.APPLIED) for site in o.sites]
    assert [site.accuracy for site in sites] == [Accuracy.APPROXIMATE]
    assert all("6e-7" in site.note for site in sites)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return done.after


def error(operator: str, x: Array) -> float:
    y = outputs_of(rewritten(aten_model(operator, ["N"])), {"x": x})["y"]
    wanted = exact(operator, x)
    return float(np.max(np.abs(y.astype(np.float64) - wanted) / np.abs(wanted)))


@pytest.mark.parametrize("operator", TABLE)
def test_values_of_the_tables(operator: str) -> None:
    x = np.array(list(TABLE[operator]), np.float32)
    wanted = np.array(list(TABLE[operator].values()))
    np.testing.assert_allclose(exact(operator, x), wanted, rtol=1e-11)
    y = outputs_of(rewritten(aten_model(operator, ["N"])), {"x": x})["y"]
    np.testing.assert_allclose(y, wanted, rtol=6e-7)


@pytest.mark.parametrize("operator", KINDS)
@pytest.mark.parametrize(("low", "high"), [(-13.0, 13.0), (11.99, 12.01), (12.0, 88.0)])
def test_error(operator: str, low: float, high: float) -> None:
    x = np.linspace(low, high, 4001).astype(np.float32)
    assert error(operator, x[x != 0]) <= 6e-7


@pytest.mark.parametrize("operator", SCALED)
@pytest.mark.parametrize("sign", [-1, 1])
def test_error_far_out_and_close_to_zero(operator: str, sign: int) -> None:
    far = (sign * np.logspace(1, 38.5, 2001)).astype(np.float32)
    assert error(operator, far) <= 6e-7
    small = (sign * np.logspace(-37, 0, 2001)).astype(np.float32)
    assert error(operator, small) <= 6e-7


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 5) * 8
    after = rewritten(aten_model("special_i0e", ["N", 5], layout=layout, opset=opset))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, exact("special_i0e", x), rtol=6e-7)


@pytest.mark.parametrize(
    ("operator", "at_infinity", "at_zero"),
    [
        ("special_i0", np.nan, 1),
        ("special_i0e", 0, 1),
        ("special_i1", np.nan, 0),
        ("special_i1e", 0, 0),
    ],
)
def test_ends_are_those_of_pytorch(operator: str, at_infinity: float, at_zero: float) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0, -0.0], np.float32)
    wanted = np.array([at_infinity, at_infinity, np.nan, at_zero, at_zero])
    model = aten_model(operator, ["N"])
    np.testing.assert_array_equal(outputs_of(rewritten(model), {"x": x})["y"], wanted)
    np.testing.assert_array_equal(FAMILY.evaluate([x], {"operator": operator})[0], wanted)


@pytest.mark.parametrize("operator", ["special_i0", "special_i1"])
def test_infinite_where_exp_is(operator: str) -> None:
    x = np.array([88.7, 88.8, 91.0, 3e38], np.float32)
    y = outputs_of(rewritten(aten_model(operator, ["N"])), {"x": x})["y"]
    assert np.isfinite(y[0])
    np.testing.assert_array_equal(y[1:], np.full(3, np.inf))
    np.testing.assert_array_equal(
        np.isinf(FAMILY.evaluate([x], {"operator": operator})[0]), np.isinf(y)
    )


def test_half_precision() -> None:
    x = np.linspace(-20, 20, 301).astype(np.float16)
    after = rewritten(aten_model("special_i1e", ["N"], dtype=TensorProto.FLOAT16))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float16
    np.testing.assert_allclose(
        y.astype(np.float64), exact("special_i1e", x.astype(np.float64)), rtol=1e-3, atol=1e-7
    )


@pytest.mark.parametrize("operator", KINDS)
def test_against_the_numpy_model(operator: str) -> None:
    evaluators = {("org.pytorch.aten", f"ATen.{operator}"): FAMILY.evaluate}
    feeds = [{"x": array_of(3, 4) * 20}]
    assert_rewrite(
        PASS, aten_model(operator, [3, 4]), feeds=feeds, evaluators=evaluators, rtol=6e-7
    )


def test_numpy_model_is_precise_where_series_meet() -> None:
    x = np.array([1e-30, 0.3, 0.4999, 0.5001, 63.9, 64.1, 1e6])
    for operator in SCALED:
        got: Any = FAMILY.evaluate([x], {"operator": operator})[0]
        np.testing.assert_allclose(got, exact(operator, x), rtol=1e-12)


def test_in_a_branch() -> None:
    x = np.array([1.5, -40], dtype=np.float32)
    done = run_pass(PASS, in_branch(aten_model("special_i1e", [2])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, exact("special_i1e", x), rtol=6e-7)


@given(st.lists(st.floats(2.0**-100, 2.0**99, width=32), min_size=1, max_size=20))
def test_any_number(numbers: list[float]) -> None:
    x = np.array(numbers, dtype=np.float32)
    for operator in SCALED:
        assert error(operator, x) <= 6e-7
