"""aten-distance: distances of vectors, and losses of distances."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused
from passes.aten.aten_distance import FAMILY
from tests.passes.aten_models import array_of, called, replaced

PASS = "aten-distance"
A, B, C = (array_of(5, 3, seed=seed) for seed in (1, 2, 3))
NEAR: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("dynamic", [False, True])
def test_norms_of_differences(p: float, dynamic: bool) -> None:
    for keep in (False, True):
        arguments = [A, B, p, 1e-6, keep]
        replaced(PASS, FAMILY.evaluate, "pairwise_distance", arguments, fed=2, dynamic=dynamic,
                 **NEAR)  # fmt: skip
    replaced(PASS, FAMILY.evaluate, "dist", [A, B, p], fed=2, dynamic=dynamic, **NEAR)
    replaced(PASS, FAMILY.evaluate, "renorm", [A, max(p, 0.5), 0, 0.7], dynamic=dynamic, **NEAR)


def test_pairs_of_rows() -> None:
    for p in (1.0, 2.0):
        for x in (A, A[:2].copy(), A[:1].copy()):
            replaced(PASS, FAMILY.evaluate, "pdist", [x, p], **NEAR)
            replaced(PASS, FAMILY.evaluate, "pdist", [x, p], dynamic=True, **NEAR)
    model, _ = called("pdist", [np.zeros((2000, 1), np.float32), 2.0], [A[0]])
    assert_refused(PASS, model, "there must be at most 1048576 pairs of rows")


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("how", [0, 1, 2])
def test_triplets(swap: bool, how: int) -> None:
    arguments = [A, B, C, 1.0, 2.0, 1e-6, swap, how]
    replaced(PASS, FAMILY.evaluate, "triplet_margin_loss", arguments, fed=3, **NEAR)


@pytest.mark.parametrize("how", [0, 1, 2])
def test_angles_of_pairs(how: int) -> None:
    side = np.array([1, -1, 1, -1, -1], np.float32)
    arguments = [A, B, side, 0.1, how]
    replaced(PASS, FAMILY.evaluate, "cosine_embedding_loss", arguments, fed=3, **NEAR)
