"""aten-cov: covariance and correlation of rows."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_cov import FAMILY
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-cov"
COUNTS, SHARES = np.array([1, 3, 2, 1, 2]), np.array([0.5, 2, 1, 0.25, 1], np.float32)


def computed(operator: str, inputs: list[Any], rank: int, **how: Any) -> Array:
    model, feed = called(operator, inputs, [np.zeros((1,) * rank, np.float32)], **how)
    y: Array = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    return y


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("counts", [None, COUNTS])
@pytest.mark.parametrize("shares", [None, SHARES])
@pytest.mark.parametrize("opset", [11, 17])
def test_covariance(correction: int, counts: Any, shares: Any, opset: int) -> None:
    x = array_of(3, 5)
    inputs = [x, correction, counts, shares]
    wanted = np.cov(x, ddof=correction, fweights=counts, aweights=shares)
    y = computed("cov", inputs, 2, opset=opset)
    np.testing.assert_allclose(y, wanted, rtol=2e-6, atol=1e-6)
    replaced(PASS, FAMILY.evaluate, "cov", inputs, rtol=1e-5, atol=1e-6, opset=opset)


def test_one_row_gives_a_number() -> None:
    x = array_of(7)
    for rows in (x, x[None]):
        replaced(PASS, FAMILY.evaluate, "cov", [rows, 1, None, None], rtol=1e-5)
        y = computed("cov", [rows, 1, None, None], 0)
        np.testing.assert_allclose(y, np.var(x, ddof=1), rtol=2e-6)
        np.testing.assert_array_equal(computed("corrcoef", [rows], 0), 1)
    few = computed("cov", [x[:1], 1, None, None], 0)
    assert np.isnan(few)


def test_correlation() -> None:
    x = np.concatenate([array_of(3, 8), array_of(1, 8) * 2 + 1])
    wanted = np.corrcoef(x)
    np.testing.assert_allclose(computed("corrcoef", [x], 2), wanted, rtol=1e-5, atol=1e-6)
    replaced(PASS, FAMILY.evaluate, "corrcoef", [x], rtol=1e-5, atol=1e-6)
    assert float(np.abs(computed("corrcoef", [x], 2)).max()) <= 1


def test_integers_are_computed_as_float32() -> None:
    x = np.array([[1, 5, -2, 7], [0, 3, 3, -9]])
    np.testing.assert_allclose(computed("cov", [x, 1, None, None], 2), np.cov(x), rtol=1e-6)
    replaced(PASS, FAMILY.evaluate, "corrcoef", [x], rtol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_and_an_open_number_of_columns(layout: str) -> None:
    x = array_of(2, 6)
    model = aten_model("corrcoef", [2, "N"], layout=layout)
    y = outputs_of(run_pass(PASS, model).after, {"x": x})["y"]
    np.testing.assert_allclose(y, np.corrcoef(x), rtol=1e-5)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("corrcoef", [2, 4])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    x = array_of(2, 4)
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, np.corrcoef(x), rtol=1e-5)
