"""aten-digamma: the logarithmic derivative of the gamma function."""

import math

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_digamma import FAMILY
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model
from tests.passes.resize_models import in_branch

PASS = "aten-digamma"


def rewritten(model: ModelProto) -> ModelProto:
    """Return the result of the pass, after asserting that it says what it is."""
    done = run_pass(PASS, model)
    sites = [site for o in done.with_status(Status.APPLIED) for site in o.sites]
    assert [site.accuracy for site in sites] == [Accuracy.APPROXIMATE]
    assert all("1e-6" in site.note for site in sites)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return done.after


def computed(x: Array, operator: str = "digamma") -> Array:
    y: Array = outputs_of(rewritten(aten_model(operator, ["N"])), {"x": x})["y"]
    return y


def exact(x: Array) -> Array:
    return np.array([digamma(number) for number in x.ravel().tolist()]).reshape(x.shape)


def digamma(x: float) -> float:
    """Return the value by the recurrence up to 200 and the series from there."""
    if x < 0:
        return digamma(1 - x) - cotangent(x)
    steps = math.fsum(1 / (x + k) for k in range(200)) if x < 200 else 0.0
    t = x + 200 if x < 200 else x
    return math.log(t) - 1 / (2 * t) - 1 / (12 * t * t) + 1 / (120 * t**4) - steps


def cotangent(x: float) -> float:
    return math.pi / math.tan(math.pi * math.remainder(x, 1))


def error(x: Array) -> float:
    wanted = exact(x)
    least = np.array([1 if v >= 0 else max(1, abs(cotangent(v))) for v in x.tolist()])
    distance = np.abs(computed(x).astype(np.float64) - wanted)
    return float(np.max(distance / np.maximum(np.abs(wanted), least)))


def test_known_values() -> None:
    x = np.array([1, 2, 0.5, 10, -0.5], np.float32)
    gamma = 0.5772156649015329
    half = -gamma - 2 * math.log(2)
    wanted = [-gamma, 1 - gamma, half, 2.251752589066721, half + 2]
    np.testing.assert_allclose(exact(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(computed(x), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("low", "high"), [(1e-3, 0.5), (0.5, 3.0), (3.0, 6.5), (6.0, 100.0), (-4.0, 0.0), (-1e3, -4.0)]
)
def test_error(low: float, high: float) -> None:
    x = np.linspace(low, high, 3001).astype(np.float32)
    assert error(x[x != np.floor(x)]) <= 1e-6


@pytest.mark.parametrize("sign", [-1, 1])
def test_error_close_to_zero(sign: int) -> None:
    assert error((sign * np.logspace(-37, -1, 1001)).astype(np.float32)) <= 1e-6


def test_error_far_out() -> None:
    assert error(np.logspace(2, 38.5, 1001).astype(np.float32)) <= 1e-6


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = np.abs(array_of(2, 5)) + np.float32(0.1)
    after = rewritten(aten_model("digamma", ["N", 5], layout=layout, opset=opset))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, exact(x), rtol=1e-6, atol=1e-6)


def test_ends_are_those_of_pytorch() -> None:
    x = np.array([0, -0.0, -1, -7, -8388609, -8.5e6, -1e30, np.inf, -np.inf, np.nan], np.float32)
    wanted = np.array([-np.inf, *[np.inf] * 1, *[np.nan] * 5, np.inf, np.nan, np.nan], np.float32)
    np.testing.assert_array_equal(computed(x), wanted)
    np.testing.assert_array_equal(FAMILY.evaluate([x], {"operator": "digamma"})[0], wanted)


def test_half_precision() -> None:
    x = np.linspace(0.1, 20, 301).astype(np.float16)
    after = rewritten(aten_model("digamma", ["N"], dtype=TensorProto.FLOAT16))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float16
    wanted = exact(x.astype(np.float64))
    np.testing.assert_allclose(y.astype(np.float64), wanted, rtol=1e-3, atol=1e-3)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.digamma"): FAMILY.evaluate}
    feeds = [{"x": array_of(3, 4) * 5}]
    model = aten_model("digamma", [3, 4])
    assert_rewrite(PASS, model, feeds=feeds, evaluators=evaluators, rtol=2e-6, atol=2e-6)


def test_in_a_branch() -> None:
    x = np.array([1.5, 6.5], dtype=np.float32)
    done = run_pass(PASS, in_branch(aten_model("special_psi", [2])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, exact(x), rtol=1e-6, atol=1e-6)


@given(st.lists(st.floats(2.0**-100, 2.0**99, width=32), min_size=1, max_size=20))
def test_any_positive_number(numbers: list[float]) -> None:
    assert error(np.array(numbers, dtype=np.float32)) <= 1e-6
