"""aten-nextafter: the neighbour of a float in a direction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from tests.passes.aten_models import LAYOUTS, Array, aten_model, called
from tests.passes.resize_models import in_branch

PASS = "aten-nextafter"


def same(x: Array, z: Array, opset: int = 17) -> None:
    """Compare with numpy; onnxruntime's Where gives no zero below 0."""
    model, feed = called("nextafter", [x, z], [x], fed=2, opset=opset, dynamic=True)
    y = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y, np.nextafter(x, z))


@pytest.mark.parametrize("opset", [9, 13, 18])
def test_every_power_of_two_and_its_neighbours(opset: int) -> None:
    powers = np.ldexp(np.float32(1), np.arange(-149, 128)).astype(np.float32)
    above, below = (np.nextafter(powers, np.float32(end)) for end in (np.inf, 0))
    x = np.concatenate([powers, above, below, -powers, -above, -below])
    for end in (np.inf, -np.inf, 0, 1):
        same(x, np.full(x.shape, end, np.float32), opset)


def test_ends() -> None:
    numbers = [0, -0.0, 1, -1, 1e-45, -1e-45, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan]
    x, z = (side.reshape(-1) for side in np.meshgrid(np.array(numbers, np.float32), numbers))
    z = z.astype(np.float32)
    numeric = ~np.isnan(x) & ~np.isnan(z)
    same(x[numeric], z[numeric])
    model, feed = called("nextafter", [x, z], [x], fed=2)
    y = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    np.testing.assert_array_equal(np.isnan(y), ~numeric)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    x = np.array([1, 2], np.float32)
    model = aten_model("nextafter", [2], [np.zeros(2, np.float32)], layout=layout)
    y = outputs_of(run_pass(PASS, model).after, {"x": x})["y"]
    np.testing.assert_array_equal(y, np.nextafter(x, np.float32(0)))


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("nextafter", [2], [np.ones(2, np.float32)])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    x = np.array([3, -8], np.float32)
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_array_equal(y, np.nextafter(x, np.float32(1)))


@given(st.lists(st.tuples(*[st.floats(allow_nan=False, width=32)] * 2), min_size=1, max_size=20))
def test_any_pair(pairs: list[tuple[float, float]]) -> None:
    x, z = (np.array(side, np.float32) for side in zip(*pairs, strict=True))
    same(x, z)
