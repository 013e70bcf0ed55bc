"""aten-linalg-lu: LAPACK's pivots, and systems that are solved with them."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_linalg_lu import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-lu"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
SHAPES = [(1, 1), (2, 2), (5, 5), (3, 5), (4, 5), (5, 3), (1, 4), (4, 1), (2, 8, 8), (3, 6, 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_are_exchanged_with_their_multipliers(shape: tuple[int, ...]) -> None:
    x = array_of(*shape)
    replaced(PASS, FAMILY.evaluate, "linalg_lu_factor", [x, True], used=2, **CLOSE)


@pytest.mark.parametrize("opset", [11, 13, 17, 18])
def test_float64_in_each_opset(opset: int) -> None:
    x = array_of(3, 4).astype(np.float64)
    close: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
    replaced(PASS, FAMILY.evaluate, "linalg_lu", [x, True], opset=opset, **close)


@pytest.mark.parametrize("shape", SHAPES)
def test_factors_apart(shape: tuple[int, ...]) -> None:
    x = array_of(*shape)
    done = replaced(PASS, FAMILY.evaluate, "linalg_lu", [x, True], **CLOSE)
    p, lower, upper = outputs_of(done.after, {"x0": x}).values()
    np.testing.assert_allclose(p @ lower @ upper, x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [*SHAPES, (12, 12), (3, 9, 5), (5, 9)])
def test_open_and_large_sizes(shape: tuple[int, ...]) -> None:
    x = array_of(*shape)
    for dynamic in (False, True):
        how: dict[str, Any] = {"dynamic": dynamic, **CLOSE}
        replaced(PASS, FAMILY.evaluate, "linalg_lu_factor", [x, True], used=2, **how)
        replaced(PASS, FAMILY.evaluate, "linalg_lu", [x, True], **how)


def factored(*shape: int) -> tuple[Any, Any, Any]:
    """Return a matrix, its factors, and its pivots."""
    x = array_of(*shape)
    lu, pivots, _ = FAMILY.evaluate([x], {"operator": "linalg_lu_factor"})
    return x, lu, pivots


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5, 5), (8, 8)])
def test_systems(shape: tuple[int, ...]) -> None:
    x, lu, pivots = factored(*shape)
    b = array_of(*shape[:-1], 2, seed=8)
    done = replaced(PASS, FAMILY.evaluate, "lu_solve", [b, lu, pivots], fed=3, **CLOSE)
    found = outputs_of(done.after, {"x0": b, "x1": lu, "x2": pivots})["y0"]
    np.testing.assert_allclose(x @ found, b, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_systems_on_either_side(left: bool, adjoint: bool) -> None:
    x, lu, pivots = factored(2, 3, 3)
    b = array_of(1, 3, 4, seed=8) if left else array_of(1, 4, 3, seed=8)
    arguments = [lu, pivots, b, left, adjoint]
    done = replaced(PASS, FAMILY.evaluate, "linalg_lu_solve", arguments, fed=3, **CLOSE)
    found = outputs_of(done.after, {"x0": lu, "x1": pivots, "x2": b})["y0"]
    whole = x.swapaxes(-1, -2) if adjoint else x
    whole = whole @ found if left else found @ whole
    np.testing.assert_allclose(whole, np.broadcast_to(b, whole.shape), rtol=1e-3, atol=1e-4)


def test_in_a_subgraph() -> None:
    done = run_pass(PASS, in_branch(aten_model("linalg_lu_factor", [3, 3], [np.array(True)])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
    x = array_of(3, 3)
    given = outputs_of(done.after, {"x": x, "c": np.array(True)})
    packed = FAMILY.evaluate([x], {"operator": "linalg_lu_factor"})[0]
    np.testing.assert_allclose(next(iter(given.values())), packed, rtol=1e-4, atol=1e-5)
