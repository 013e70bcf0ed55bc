"""aten-linalg-solve: systems, triangles, Cholesky factors and powers."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import APPROXIMATE
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_linalg_solve import FAMILY
from tests.passes.aten_models import array_of, called, replaced

PASS = "aten-linalg-solve"
CLOSE: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-4}


def matrices(*shape: int) -> Any:
    """Return matrices that are far from singular and need their rows exchanged."""
    x = array_of(*shape)
    return x + 3 * np.eye(shape[-1], dtype=np.float32)[::-1]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("size", [1, 3, 11])
def test_systems(dynamic: bool, size: int) -> None:
    how: dict[str, Any] = {"fed": 2, "used": 1, "dynamic": dynamic, **CLOSE}
    a = matrices(2, size, size)
    replaced(PASS, FAMILY.evaluate, "linalg_solve", [a, array_of(2, size, 5), True], **how)
    replaced(PASS, FAMILY.evaluate, "linalg_solve", [a, array_of(2, 5, size), False], **how)
    if not dynamic:  # open sizes leave open whether it is vectors
        replaced(PASS, FAMILY.evaluate, "linalg_solve", [a, array_of(size, 5), True], **how)
    replaced(PASS, FAMILY.evaluate, "linalg_solve", [a[0], array_of(size), True], **how)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
def test_triangles_read_their_half_alone(upper: bool, unit: bool, dynamic: bool) -> None:
    a = array_of(2, 4, 4) + 4 * np.eye(4, dtype=np.float32)
    outside = np.tril(np.ones((4, 4)), -1) if upper else np.triu(np.ones((4, 4)), 1)
    a[:, outside > 0] = np.nan
    how: dict[str, Any] = {"fed": 2, "dynamic": dynamic, **CLOSE}
    b = array_of(2, 4, 3)
    replaced(PASS, FAMILY.evaluate, "linalg_solve_triangular", [a, b, upper, True, unit], **how)
    turned = array_of(2, 3, 4)
    replaced(
        PASS, FAMILY.evaluate, "linalg_solve_triangular", [a, turned, upper, False, unit], **how
    )
    clean = np.where(np.isnan(a), 0, a)
    for transposed in (False, True):
        inputs = [b, clean, upper, transposed, unit]
        replaced(PASS, FAMILY.evaluate, "triangular_solve", inputs, **how)


@pytest.mark.parametrize("upper", [False, True])
def test_factors_of_cholesky(upper: bool) -> None:
    x = array_of(2, 3, 3)
    factor = np.linalg.cholesky(x @ np.swapaxes(x, -1, -2) + np.eye(3, dtype=np.float32))
    factor = np.swapaxes(factor, -1, -2).copy() if upper else factor
    inputs = [array_of(2, 3, 2), factor, upper]
    replaced(PASS, FAMILY.evaluate, "cholesky_solve", inputs, fed=2, **CLOSE)
    replaced(PASS, FAMILY.evaluate, "cholesky_inverse", [factor, upper], **CLOSE)


@pytest.mark.parametrize("power", [-2, -1, 0, 1, 2, 5])
def test_powers(power: int) -> None:
    x = matrices(2, 3, 3)
    replaced(PASS, FAMILY.evaluate, "linalg_matrix_power", [x, power], **CLOSE)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("left", [True, False])
def test_error_counts(left: bool, dynamic: bool) -> None:
    a, b = matrices(2, 3, 3), array_of(2, 3, 3, seed=8)
    arguments = [a, b, left, False]
    how: dict[str, Any] = {"fed": 2, "accuracy": APPROXIMATE, "dynamic": dynamic, **CLOSE}
    done = replaced(PASS, FAMILY.evaluate, "linalg_solve_ex", arguments, **how)
    a[1] = [[1, 2, 3], [2, 4, 6], [4, 8, 12]]
    assert outputs_of(done.after, {"x0": a, "x1": b})["y1"].tolist() == [0, 2]
    vector = [a[0], array_of(3), True, False]
    replaced(PASS, FAMILY.evaluate, "linalg_solve_ex", vector, **how)


def test_nothing_to_invert() -> None:
    nothing = np.zeros((0, 0), np.float32)
    model, _ = called("cholesky_inverse", [nothing, False], [nothing])
    done = run_pass(PASS, model)
    assert outputs_of(done.after, {"x0": nothing})["y0"].shape == (0, 0)
