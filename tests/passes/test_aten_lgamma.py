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
from passes.aten.aten_lgamma import FAMILY
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model
from tests.passes.resize_models import in_branch

PASS = "aten-lgamma"


def exact(x: Array) -> Array:
    return np.array([math.lgamma(float(number)) for number in x.ravel()]).reshape(x.shape)


def rewritten(model: ModelProto) -> ModelProto:
    """Return the result of the pass, after asserting that it says what it is."""
    done = run_pass(PASS, model)
    sites = [site for o in done.with_status(Status.APPLIED) for site in o.sites]
    assert [site.accuracy for site in sites] == [Accuracy.APPROXIMATE]
    assert all("5e-7" in site.note for site in sites)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    again = run_pass(PASS, done.after)
    assert [outcome.status for outcome in again.outcomes] == [Status.NOT_NEEDED]
    return done.after


def relative(y: Array, wanted: Array) -> Array:
    """Return errors as shares of the value; those at a zero as they are."""
    return np.abs(y.astype(np.float64) - wanted) / np.where(wanted == 0, 1, np.abs(wanted))


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = np.abs(array_of(2, 5)) + np.float32(0.5)
    after = rewritten(aten_model("lgamma", ["N", 5], layout=layout, opset=opset))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float32
    assert relative(y, exact(x)).max() <= 5e-7


@pytest.mark.parametrize(
    ("low", "high"), [(0.5, 1.5), (1.5, 3.5), (3.5, 8.0), (8.0, 100.0), (100.0, 1e6)]
)
def test_error_from_a_half_on(low: float, high: float) -> None:
    x = np.linspace(low, high, 20001).astype(np.float32)
    y = outputs_of(rewritten(aten_model("lgamma", ["N"])), {"x": x})["y"]
    assert relative(y, exact(x)).max() <= 5e-7


@pytest.mark.parametrize(("low", "high"), [(-4.0, 0.5), (-100.0, -4.0), (-1e5, -100.0)])
def test_error_below_a_half(low: float, high: float) -> None:
    x = np.linspace(low, high, 20001).astype(np.float32)
    x = x[x != np.floor(x)]
    y = outputs_of(rewritten(aten_model("lgamma", ["N"])), {"x": x})["y"]
    wanted = exact(x)
    error = np.abs(y.astype(np.float64) - wanted) / np.maximum(np.abs(wanted), 1)
    assert error.max() <= 2e-6


@pytest.mark.parametrize("sign", [-1, 1])
def test_close_to_zero(sign: int) -> None:
    x = (sign * np.logspace(-37, -1, 2001)).astype(np.float32)
    y = outputs_of(rewritten(aten_model("lgamma", ["N"])), {"x": x})["y"]
    assert relative(y, exact(x)).max() <= 2e-6


@pytest.mark.parametrize("opset", [9, 13])
def test_poles_zeros_and_ends(opset: int) -> None:
    x = np.array(
        [0, -0.0, -1, -7, -1e10, -3e38, -np.inf, np.inf, 1e37, np.nan, 1, 2], dtype=np.float32
    )
    y = outputs_of(rewritten(aten_model("lgamma", ["N"], opset=opset)), {"x": x})["y"]
    np.testing.assert_array_equal(y[:9], np.full(9, np.inf))
    assert np.isnan(y[9])
    np.testing.assert_array_equal(y[10:], np.zeros(2))


def test_half_precision() -> None:
    x = np.linspace(0.5, 20, 301).astype(np.float16)
    after = rewritten(aten_model("lgamma", ["N"], dtype=TensorProto.FLOAT16))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.astype(np.float64), exact(x), rtol=1e-3, atol=1e-7)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.lgamma"): FAMILY.evaluate}
    feeds = [{"x": array_of(3, 4) * 5}]
    model = aten_model("lgamma", [3, 4])
    assert_rewrite(PASS, model, feeds=feeds, evaluators=evaluators, rtol=2e-6, atol=2e-6)


def test_numpy_model_is_infinite_at_poles() -> None:
    y: Any = FAMILY.evaluate(
        [np.array([0, -3, 1e38, 3], dtype=np.float32)], {"operator": "lgamma"}
    )[0]
    np.testing.assert_array_equal(y[:3], np.full(3, np.inf))
    assert y[3] == np.float32(math.log(2))


def test_in_a_branch() -> None:
    x = np.array([1.5, 6.5], dtype=np.float32)
    done = run_pass(PASS, in_branch(aten_model("lgamma", [2])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, exact(x), rtol=1e-6)


@given(
    numbers=st.lists(st.floats(0.5, 2.0**99, width=32), min_size=1, max_size=20),
    opset=st.sampled_from([9, 11, 13, 18]),
)
def test_any_number_from_a_half_on(numbers: list[float], opset: int) -> None:
    x = np.array(numbers, dtype=np.float32)
    y = outputs_of(rewritten(aten_model("lgamma", ["N"], opset=opset)), {"x": x})["y"]
    assert relative(y, exact(x)).max() <= 5e-7
