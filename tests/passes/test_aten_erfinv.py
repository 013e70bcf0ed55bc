"""aten-erfinv: the inverse of the error function."""

import math

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_erfinv import FAMILY
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model
from tests.passes.resize_models import in_branch

PASS = "aten-erfinv"


def rewritten(model: ModelProto) -> ModelProto:
    """Return the result of the pass, after asserting that it says what it is."""
    done = run_pass(PASS, model)
    sites = [site for o in done.with_status(Status.APPLIED) for site in o.sites]
    assert [site.accuracy for site in sites] == [Accuracy.APPROXIMATE]
    assert all("3e-7" in site.note for site in sites)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return done.after


def computed(x: Array, operator: str = "erfinv") -> Array:
    y: Array = outputs_of(rewritten(aten_model(operator, ["N"])), {"x": x})["y"]
    return y


def exact(x: Array) -> Array:
    """Return what a step of Newton's method in float64 makes of the result in float32."""
    values: list[float] = []
    for number in x.ravel().tolist():
        a = abs(number)
        y = float(np.abs(FAMILY.evaluate([np.array(a, np.float32)], {"operator": "erfinv"})[0]))
        slope = 2 / math.sqrt(math.pi) * math.exp(-y * y)
        missing = (1 - a) - math.erfc(y) if a > 0.5 else math.erf(y) - a
        values.append(math.copysign(y - missing / slope if a > 1e-6 else a / slope, number))
    return np.array(values).reshape(x.shape)


def error(x: Array) -> float:
    wanted = exact(x)
    return float(np.max(np.abs(computed(x).astype(np.float64) - wanted) / np.abs(wanted)))


def test_known_values() -> None:
    # Quantiles of the normal distribution divided by sqrt(2).
    x = np.array([0.5, -0.5, 0.75, 0.999], np.float32)
    wanted = [0.4769362762044699, -0.4769362762044699, 0.8134198475976185, 2.326753765513525]
    np.testing.assert_allclose(exact(x)[:3], wanted[:3], rtol=1e-13)
    np.testing.assert_allclose(computed(x), wanted, rtol=2e-6)  # 0.999 is no float32


@pytest.mark.parametrize("sign", [-1, 1])
def test_error(sign: int) -> None:
    inside = sign * np.linspace(1e-4, 0.999, 2001)
    near_one = sign * (1 - np.logspace(-7.2, -1, 1001))
    small = sign * np.logspace(-37, -1, 1001)
    for x in (inside, near_one, small):
        assert error(x.astype(np.float32)) <= 3e-7


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = np.tanh(array_of(2, 5))
    after = rewritten(aten_model("erfinv", ["N", 5], layout=layout, opset=opset))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, exact(x), rtol=3e-7)


def test_ends_are_those_of_pytorch() -> None:
    x = np.array([1, -1, 0, 1.5, -2, np.inf, -np.inf, np.nan], np.float32)
    wanted = np.array([np.inf, -np.inf, 0, *[np.nan] * 5], np.float32)
    np.testing.assert_array_equal(computed(x), wanted)
    np.testing.assert_array_equal(FAMILY.evaluate([x], {"operator": "erfinv"})[0], wanted)


def test_half_precision() -> None:
    x = np.linspace(-0.99, 0.99, 302).astype(np.float16)
    after = rewritten(aten_model("erfinv", ["N"], dtype=TensorProto.FLOAT16))
    y = outputs_of(after, {"x": x})["y"]
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.astype(np.float64), exact(x.astype(np.float64)), rtol=1e-3)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.special_erfinv"): FAMILY.evaluate}
    feeds = [{"x": np.tanh(array_of(3, 4))}]
    model = aten_model("special_erfinv", [3, 4])
    assert_rewrite(PASS, model, feeds=feeds, evaluators=evaluators, rtol=3e-7)


def test_in_a_branch() -> None:
    x = np.array([0.25, -0.875], dtype=np.float32)
    done = run_pass(PASS, in_branch(aten_model("erfinv", [2])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, exact(x), rtol=3e-7)


@given(st.lists(st.floats(2.0**-100, 1 - 2.0**-24, width=32), min_size=1, max_size=20))
def test_any_number(numbers: list[float]) -> None:
    assert error(np.array(numbers, dtype=np.float32)) <= 3e-7
