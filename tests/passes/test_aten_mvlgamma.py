"""aten-mvlgamma: the multivariate log-gamma function as a sum."""

import math

import numpy as np
import pytest

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_mvlgamma import FAMILY
from tests.passes.aten_models import LAYOUTS, Array, aten_model
from tests.passes.resize_models import in_branch

PASS = "aten-mvlgamma"
# mpmath 1.3 with 40 digits: x, p, value.
VALUES = [
    (0.25, 1, 1.2880225246980774),
    (3.5, 1, 1.2009736023470743),
    (0.75, 2, 2.063668419054073),
    (5.5, 2, 7.708232740891362),
    (4.25, 5, 10.860810248206848),
    (80.5, 8, 2126.743490036535),
]


def exact(x: Array, count: int) -> Array:
    constant = count * (count - 1) / 4 * math.log(math.pi)
    sums = [sum(math.lgamma(v - at / 2) for at in range(count)) + constant for v in x.tolist()]
    return np.array(sums)


@pytest.mark.parametrize(("x", "count", "wanted"), VALUES)
def test_values(x: float, count: int, wanted: float) -> None:
    model = aten_model("mvlgamma", ["N"], [np.array(count)])
    y = outputs_of(run_pass(PASS, model).after, {"x": np.array([x], np.float32)})["y"]
    np.testing.assert_allclose(y, [wanted], rtol=2e-6)
    wide = FAMILY.evaluate([np.array([x]), np.array(count)], {"operator": "mvlgamma"})[0]
    np.testing.assert_allclose(wide, [wanted], rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("opset", [9, 13, 18])
def test_error(count: int, opset: int) -> None:
    x = np.linspace((count - 1) / 2 + 0.01, 60, 2001).astype(np.float32)
    model = aten_model("special_multigammaln", ["N"], [np.array(count)], opset=opset)
    y = outputs_of(run_pass(PASS, model).after, {"x": x})["y"]
    wanted = exact(x, count)
    assert float(np.max(np.abs(y - wanted) / np.maximum(1, np.abs(wanted)))) <= 2e-6


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    x = np.array([2.5, 7], np.float32)
    model = aten_model("mvlgamma", [2], [np.array(3)], layout=layout)
    y = outputs_of(run_pass(PASS, model).after, {"x": x})["y"]
    np.testing.assert_allclose(y, exact(x, 3), rtol=2e-6)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("mvlgamma", [2], [np.array(2)])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    x = np.array([1.5, 4], np.float32)
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, exact(x, 2), rtol=2e-6)
