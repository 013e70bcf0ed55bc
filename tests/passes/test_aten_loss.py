"""aten-loss: what each element costs, joined or not."""

from typing import Any

import numpy as np
import pytest

from passes.aten.aten_loss import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-loss"
X = array_of(3, 4)
SHARE = 1 / (1 + np.exp(-X))
TARGET = np.where(array_of(3, 4, seed=2) > 0, 1, -1).astype(np.float32)
CHANCE = (TARGET + 1) / 2
WEIGHT = np.abs(array_of(4, seed=3))
CALLS: list[tuple[str, list[Any], int]] = [
    ("binary_cross_entropy", [SHARE, CHANCE, WEIGHT], 3),
    ("binary_cross_entropy", [np.array([0, 1, 0.5], np.float32), np.zeros(3, np.float32), None], 2),
    ("binary_cross_entropy_with_logits", [X * 50, CHANCE, WEIGHT, WEIGHT + 1], 4),
    ("binary_cross_entropy_with_logits", [X, CHANCE, None, None], 2),
    ("hinge_embedding_loss", [X, TARGET, 0.5], 2),
    ("kl_div", [X, SHARE], 2),
    ("margin_ranking_loss", [X, SHARE, TARGET, 0.25], 3),
    ("margin_ranking_loss", [(X * 9).astype(np.int64), (SHARE * 9).astype(np.int64),
                             TARGET.astype(np.int64), 0.0], 3),
    ("soft_margin_loss", [X * 30, TARGET], 2),
]  # fmt: skip


@pytest.mark.parametrize("how", [0, 1, 2])
@pytest.mark.parametrize(("operator", "arguments", "fed"), CALLS)
def test_costs(operator: str, arguments: list[Any], fed: int, how: int) -> None:
    further: list[Any] = [False] if operator == "kl_div" else []
    for dynamic in (False, True):
        replaced(PASS, FAMILY.evaluate, operator, [*arguments, how, *further], fed=fed,
                 rtol=1e-5, atol=1e-6, dynamic=dynamic)  # fmt: skip
