"""aten-loss: what each element costs, joined or not."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of
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


def test_divergence_of_logarithms() -> None:
    arguments = [X, np.log(SHARE), 2, True]
    replaced(PASS, FAMILY.evaluate, "kl_div", arguments, fed=2, rtol=1e-5)


@pytest.mark.parametrize("log_input", [True, False])
@pytest.mark.parametrize("full", [True, False])
def test_counts(log_input: bool, full: bool) -> None:
    counts = np.abs(np.round(X * 4))
    arguments = [SHARE, counts, log_input, full, 1e-8, 1]
    replaced(PASS, FAMILY.evaluate, "poisson_nll_loss", arguments, fed=2, rtol=1e-5, atol=1e-6)


def test_a_certain_mistake_costs_a_hundred() -> None:
    x = np.array([0, 1], np.float32)
    done = replaced(PASS, FAMILY.evaluate, "binary_cross_entropy", [x, 1 - x, None, 0], fed=2)
    assert outputs_of(done.after, {"x0": x, "x1": 1 - x})["y0"].tolist() == [100, 100]


def test_a_soft_margin_overflows_where_pytorch_does() -> None:
    x, target = np.array([-200, 80, -80], np.float32), np.ones(3, np.float32)
    done = replaced(PASS, FAMILY.evaluate, "soft_margin_loss", [x, target, 0], fed=2, rtol=1e-5)
    assert outputs_of(done.after, {"x0": x, "x1": target})["y0"].tolist()[::2] == [np.inf, 80]


def test_the_mean_cost_of_nothing_is_no_number() -> None:
    given = [X, CHANCE, None, None, 1]
    operator = "binary_cross_entropy_with_logits"
    done = replaced(PASS, FAMILY.evaluate, operator, given, fed=2, rtol=1e-5, dynamic=True)
    nothing = np.zeros((0, 4), np.float32)
    assert np.isnan(outputs_of(done.after, {"x0": nothing, "x1": nothing})["y0"])
