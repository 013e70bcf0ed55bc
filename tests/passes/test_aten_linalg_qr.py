"""aten-linalg-qr: factors with LAPACK's signs and pivots."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import APPROXIMATE
from graphfix.testing import outputs_of
from passes.aten.aten_linalg_qr import FAMILY
from tests.passes.aten_models import array_of, called, replaced

PASS = "aten-linalg-qr"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
LEAST: dict[str, Any] = {"fed": 2, "used": 1, "accuracy": APPROXIMATE, **CLOSE}


@pytest.mark.parametrize("some", [True, False])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 3), (3, 5), (1, 4), (4, 1), (2, 8, 8)])
def test_orthogonal_and_triangular(shape: tuple[int, ...], some: bool) -> None:
    replaced(PASS, FAMILY.evaluate, "qr", [array_of(*shape), some], **CLOSE)


def test_columns_that_need_no_reflection() -> None:
    x = np.triu(array_of(4, 4)).astype(np.float32)
    x[1] *= -1
    replaced(PASS, FAMILY.evaluate, "qr", [x, True], **CLOSE)
    replaced(PASS, FAMILY.evaluate, "qr", [np.zeros((3, 2), np.float32), True], **CLOSE)


def test_orthogonal_to_the_last_digit_of_float64() -> None:
    x = array_of(6, 4).astype(np.float64)
    replaced(PASS, FAMILY.evaluate, "qr", [x, True], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("operator", ["linalg_slogdet", "slogdet", "logdet"])
@pytest.mark.parametrize("opset", [11, 17, 18])
def test_logarithms_and_signs(operator: str, opset: int) -> None:
    x = array_of(5, 4, 4)
    x[1] *= 1e-9
    x[2] *= 1e9
    replaced(PASS, FAMILY.evaluate, operator, [x], opset=opset, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("operator", ["linalg_slogdet", "logdet"])
@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0)])
def test_logarithms_of_nothing(operator: str, shape: tuple[int, ...]) -> None:
    replaced(PASS, FAMILY.evaluate, operator, [np.zeros(shape, np.float32)])


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (6, 2), (4, 1)])
def test_least_squares(rows: int, columns: int) -> None:
    a, b = array_of(2, rows, columns), array_of(2, rows, 3, seed=8)
    model, _ = called("linalg_lstsq", [a, b, None, None], [a], fed=2)
    assert model.graph.node[0].output[:] == ["y0"]
    expected = FAMILY.evaluate([a, b], {"operator": "linalg_lstsq"})[0]
    solve: Any = np.linalg.solve
    for at in range(2):
        normal = a[at].T.astype(np.float64) @ a[at]
        best = solve(normal, a[at].T @ b[at])
        np.testing.assert_allclose(expected[at], best, rtol=1e-3, atol=1e-4)
    replaced(PASS, FAMILY.evaluate, "linalg_lstsq", [a, b, None, None], **LEAST)


@pytest.mark.parametrize("shape", [(2, 3), (1, 4), (2, 5, 8)])
def test_the_least_of_many_solutions(shape: tuple[int, ...]) -> None:
    a, b = array_of(*shape), array_of(*shape[:-1], 3, seed=8)
    found = FAMILY.evaluate([a, b], {"operator": "linalg_lstsq"})[0]
    np.testing.assert_allclose(a @ found, b, rtol=1e-3, atol=1e-4)
    replaced(PASS, FAMILY.evaluate, "linalg_lstsq", [a, b, None, None], **LEAST)


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (5, 2), (2, 6, 3)])
def test_what_is_left_of_least_squares(shape: tuple[int, ...]) -> None:
    a, b = array_of(*shape), array_of(*shape[:-1], 4, seed=8)
    arguments = [a, b, None, "gels"]
    done = replaced(PASS, FAMILY.evaluate, "linalg_lstsq", arguments, fed=2, **CLOSE)
    given = outputs_of(done.after, {"x0": a, "x1": b})
    solve: Any = np.linalg.lstsq
    if shape == (5, 2):
        np.testing.assert_allclose(given["y1"], solve(a, b, rcond=None)[1], rtol=1e-4)
    assert given["y1"].size == (b[..., 0, :].size if shape[-2] > shape[-1] else 0)
    assert given["y2"].size == given["y3"].size == 0


def test_the_numpy_model_takes_no_other_rank() -> None:
    x = np.ones((3, 2), np.float32)
    with pytest.raises(np.linalg.LinAlgError):
        FAMILY.evaluate([x, x], {"operator": "linalg_lstsq"})
