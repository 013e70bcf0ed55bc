"""aten-batch-norm: statistics of the input, or those that are given."""

from typing import Any

import numpy as np
import pytest

from passes.aten.aten_batch_norm import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-batch-norm"
X = array_of(4, 3, 5)
WEIGHT, BIAS, MEAN = (array_of(3, seed=seed) for seed in (1, 2, 3))
VARIANCE = np.abs(array_of(3, seed=4))
NEAR: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_batches(scaled: bool, dynamic: bool, training: bool) -> None:
    pair = [WEIGHT, BIAS] if scaled else [None, None]
    for x in (X, X[:, :, 0].copy(), array_of(2, 3, 2, 4)):
        arguments = [x, *pair, MEAN, VARIANCE, training, 0.1, 1e-5]
        for name, further in (("batch_norm", [True]), ("native_batch_norm", [])):
            for fed in (1, 5):
                replaced(PASS, FAMILY.evaluate, name, [*arguments, *further], fed=fed,
                         dynamic=dynamic, **NEAR)  # fmt: skip


def test_constant_statistics_stay_one_operator() -> None:
    arguments = [X, WEIGHT, BIAS, MEAN, VARIANCE, False, 0.1, 1e-5, True]
    assert replaced(PASS, FAMILY.evaluate, "batch_norm", arguments, **NEAR).ops == [
        "BatchNormalization"
    ]


@pytest.mark.parametrize("own", [False, True])
def test_functions_without_autograd(own: bool) -> None:
    arguments = [X, WEIGHT, BIAS, MEAN, VARIANCE]
    how: dict[str, Any] = {"fed": 5, **NEAR}
    name = "_native_batch_norm_legit"
    replaced(PASS, FAMILY.evaluate, name, [*arguments, own, 0.1, 1e-5], **how)
    replaced(PASS, FAMILY.evaluate, f"{name}_no_training", [*arguments, 0.1, 1e-5], **how)
    alone = [X, WEIGHT, BIAS, True, 0.1, 1e-5]
    replaced(PASS, FAMILY.evaluate, name, alone, overload="no_stats", fed=3, **NEAR)


@pytest.mark.parametrize("own", [False, True])
def test_instances(own: bool) -> None:
    arguments = [X, WEIGHT, BIAS, MEAN, VARIANCE, own, 0.1, 1e-5, True]
    replaced(PASS, FAMILY.evaluate, "instance_norm", arguments, fed=5, **NEAR)
