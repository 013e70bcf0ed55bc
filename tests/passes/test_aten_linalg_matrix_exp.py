"""aten-linalg-matrix-exp: halved, summed and squared."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import APPROXIMATE
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_linalg_matrix_exp import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-matrix-exp"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5, "accuracy": APPROXIMATE}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 4, 4), (2, 0, 0)])
def test_exponentials(shape: tuple[int, ...], dynamic: bool) -> None:
    x = array_of(*shape)
    replaced(PASS, FAMILY.evaluate, "linalg_matrix_exp", [x], dynamic=dynamic, **CLOSE)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("operator", ["linalg_matrix_exp", "matrix_exp"])
def test_float64_in_each_opset(operator: str, opset: int) -> None:
    x = array_of(3, 3).astype(np.float64)
    close: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12, "accuracy": APPROXIMATE}
    replaced(PASS, FAMILY.evaluate, operator, [x], opset=opset, **close)


def test_small_and_large_matrices_of_one_stack() -> None:
    turn = np.array([[0, -1], [1, 0]], np.float32)
    sizes = np.array([0, 1e-3, 0.4, 1, 30, 100], np.float32)
    done = replaced(
        PASS, FAMILY.evaluate, "linalg_matrix_exp", [turn * sizes[:, None, None]],
        rtol=1e-3, atol=1e-3, accuracy=APPROXIMATE,
    )  # fmt: skip
    found = outputs_of(done.after, {"x0": turn * sizes[:, None, None]})["y0"]
    np.testing.assert_allclose(found[:, 0, 0], np.cos(sizes), atol=1e-3)  # turns by an angle
    np.testing.assert_allclose(found[:, 1, 0], np.sin(sizes), atol=1e-3)


def test_what_is_not_finite_stays_in_its_own_matrix() -> None:
    x = array_of(2, 3, 3)
    model, _ = called("linalg_matrix_exp", [x], [x])
    done = run_pass(PASS, model)
    x[0, 1, 1] = np.nan
    found = outputs_of(done.after, {"x0": x})["y0"]
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("linalg_matrix_exp", [2, 2])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
