"""aten-class-loss: what is at the class of each target."""

from typing import Any

import numpy as np
import pytest

from passes.aten.aten_class_loss import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-class-loss"
X = array_of(4, 3)
IMAGE = array_of(2, 3, 2, 2)
T = np.array([0, 2, -100, 1])
TARGETS = np.array([[[0, 1], [2, -100]], [[1, 1], [0, 2]]])
WEIGHT = np.array([0.5, 1, 2], np.float32)
NEAR: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("how", [0, 1, 2])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_likelihoods(weight: Any, how: int, dynamic: bool) -> None:
    for x, target in ((X, T), (IMAGE, TARGETS), (X[0], np.array(1))):
        arguments = [x, target, weight, how, -100]
        replaced(PASS, FAMILY.evaluate, "nll_loss_nd", arguments, fed=3, dynamic=dynamic, **NEAR)
        arguments = [x, target, weight, how, -100, 0.0]
        replaced(PASS, FAMILY.evaluate, "cross_entropy_loss", arguments, fed=3, dynamic=dynamic,
                 **NEAR)  # fmt: skip


@pytest.mark.parametrize("smooth", [0.0, 0.1])
@pytest.mark.parametrize("how", [0, 1, 2])
def test_chances(smooth: float, how: int) -> None:
    chances = np.exp(X) / np.exp(X).sum(1, keepdims=True)
    for weight in (None, WEIGHT):
        arguments = [X * 3, chances, weight, how, -100, smooth]
        replaced(PASS, FAMILY.evaluate, "cross_entropy_loss", arguments, fed=3, **NEAR)
