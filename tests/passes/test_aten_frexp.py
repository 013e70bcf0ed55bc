"""aten-frexp: mantissa and exponent of floats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_frexp import FAMILY
from tests.passes.aten_models import LAYOUTS, Array, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-frexp"
OUTPUTS = {"y": (None, None), "e": (TensorProto.INT32, None)}


def taken_apart(x: Array, opset: int = 17, layout: str = "inputs") -> tuple[Array, Array]:
    kind = TensorProto.FLOAT16 if x.dtype == np.float16 else TensorProto.FLOAT
    model = aten_model(
        "frexp", ["N"], outputs=OUTPUTS, used=2, dtype=kind, opset=opset, layout=layout
    )
    found = outputs_of(run_pass(PASS, model).after, {"x": x})
    return found["y"], found["e"]


def same(x: Array, found: tuple[Array, Array]) -> None:
    mantissa, exponent = np.frexp(x)
    assert found[0].dtype == x.dtype
    np.testing.assert_array_equal(found[0], mantissa)
    np.testing.assert_array_equal(np.signbit(found[0]), np.signbit(mantissa))
    np.testing.assert_array_equal(found[1], np.where(np.isfinite(x), exponent, 0))


def test_every_power_of_two_and_its_neighbours() -> None:
    powers = np.ldexp(np.float32(1), np.arange(-149, 128)).astype(np.float32)
    above, below = (np.nextafter(powers, np.float32(end)) for end in (np.inf, 0))
    x = np.concatenate([powers, above, below, -powers])
    same(x, taken_apart(x))


@pytest.mark.parametrize("opset", [9, 13, 18])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = np.array([0, -0.0, 1, -2.5, 1e-45, -3e38, np.inf, -np.inf, np.nan], np.float32)
    same(x, taken_apart(x, opset, layout))


def test_half_precision() -> None:
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    same(x[np.isfinite(x)], taken_apart(x[np.isfinite(x)]))


def test_the_numpy_model() -> None:
    x = np.array([[1, -0.75, 6], [np.inf, 0, 1e-40]], np.float32)
    for dynamic in (False, True):
        replaced(PASS, FAMILY.evaluate, "frexp", [x], overload="Tensor", dynamic=dynamic)


def test_in_a_branch() -> None:
    model = aten_model("frexp", [2], outputs=OUTPUTS)
    done = run_pass(PASS, in_branch(model))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    feed = {"x": np.array([3, -8], np.float32), "c": np.array(True)}
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], [0.75, -0.5])


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_any_number(numbers: list[float]) -> None:
    x = np.array(numbers, np.float32)
    same(x, taken_apart(x))
