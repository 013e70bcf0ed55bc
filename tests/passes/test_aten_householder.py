"""aten-householder: reflections made, multiplied and applied."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_householder import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-householder"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 3), (5, 2), (3, 5), (2, 4, 3), (8, 8), (1, 4), (4, 1)]
)
def test_vectors_below_the_diagonal(shape: tuple[int, ...]) -> None:
    x = array_of(*shape)
    done = replaced(PASS, FAMILY.evaluate, "geqrf", [x], **CLOSE)
    packed, _ = outputs_of(done.after, {"x0": x}).values()
    r = np.abs(np.triu(packed))[..., : min(shape[-2:]), :]
    np.testing.assert_allclose(r, np.abs(np.linalg.qr(x)[1]), rtol=1e-3, atol=1e-5)


def test_columns_that_need_no_reflection() -> None:
    x = np.triu(array_of(4, 3)).astype(np.float32)
    x[1] *= -1
    replaced(PASS, FAMILY.evaluate, "geqrf", [x], **CLOSE)
    replaced(PASS, FAMILY.evaluate, "geqrf", [np.zeros((3, 2), np.float32)], **CLOSE)


@pytest.mark.parametrize("operator", ["linalg_householder_product", "orgqr"])
@pytest.mark.parametrize(
    ("shape", "count"), [((3, 3), 3), ((6, 5), 5), ((2, 4, 3), 2), ((3, 1), 1)]
)
def test_products(shape: tuple[int, ...], count: int, operator: str) -> None:
    arguments = [array_of(*shape), array_of(*shape[:-2], count, seed=8)]
    replaced(PASS, FAMILY.evaluate, operator, arguments, fed=2, **CLOSE)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_applied_from_either_side(left: bool, transpose: bool) -> None:
    x, tau = array_of(2, 4, 3), array_of(2, 3, seed=7)
    other = array_of(2, 4, 5, seed=8) if left else array_of(2, 5, 4, seed=8)
    arguments = [x, tau, other, left, transpose]
    replaced(PASS, FAMILY.evaluate, "ormqr", arguments, fed=3, **CLOSE)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 2), (3, 5), (2, 4, 3), (10, 9)])
def test_open_and_large_sizes(shape: tuple[int, ...]) -> None:
    x, front = array_of(*shape), shape[:-2]
    for dynamic in (False, True):
        how: dict[str, Any] = {"dynamic": dynamic, **CLOSE}
        replaced(PASS, FAMILY.evaluate, "geqrf", [x], **how)
        if shape[-2] < shape[-1]:
            continue
        how["fed"] = 3
        packed, taus = FAMILY.evaluate([x], {"operator": "geqrf"})
        replaced(PASS, FAMILY.evaluate, "orgqr", [packed, taus], **how)
        for left in (False, True):
            other = array_of(*front, shape[-2], 6, seed=8)
            other = other if left else other.swapaxes(-1, -2).copy()
            for turned in (False, True):
                arguments = [packed, taus, other, left, turned]
                replaced(PASS, FAMILY.evaluate, "ormqr", arguments, **how)


def test_the_factor_comes_back() -> None:
    x = array_of(5, 3)
    packed, tau = FAMILY.evaluate([x], {"operator": "geqrf"})
    q = FAMILY.evaluate([packed, tau], {"operator": "orgqr"})[0]
    np.testing.assert_allclose(q @ np.triu(packed)[:3], x, rtol=1e-4, atol=1e-5)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("geqrf", [3, 3])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
