"""aten-histogram: numbers in bins."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_histogram import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-histogram"
X = array_of(5, 8)
EDGES = np.array([-1.5, -0.5, 0, 0.75, 2], np.float32)
NEAR: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighed", [False, True])
def test_bins(weighed: bool, density: bool, dynamic: bool) -> None:
    weight = np.abs(array_of(5, 8, seed=8)) if weighed else None
    how: dict[str, Any] = {"overload": "bin_ct", "dynamic": dynamic, **NEAR}
    for bins in (1, 2, 7):
        for ends in (None, [-1.0, 1.5], [2.0, 2.0]):
            if density and ends == [2.0, 2.0]:
                continue  # nothing divided by nothing
            arguments = [X, bins, ends, weight, density]
            replaced(PASS, FAMILY.evaluate, "histogram", arguments, **how)
    given = [X, EDGES, weight, density]
    how |= {"overload": "bins_tensor", "fed": 2}
    replaced(PASS, FAMILY.evaluate, "histogram", given, **how)


def test_edges_belong_to_the_bin_after_and_the_last_to_the_last() -> None:
    x = np.array([-1.5, -0.5, 0, 2, 2, 2.1, -1.6, np.nan], np.float32)
    model, feed = called("histogram", [x, EDGES, None, False], [x, x], overload="bins_tensor")
    found = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    assert found.tolist() == [1, 1, 1, 2]


def test_in_a_branch() -> None:
    model = aten_model("histogram", [4], [np.array(3), None], overload="bin_ct")
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


def test_the_numpy_model_takes_edges_that_increase() -> None:
    call = {"operator": "histogram", "overload_name": "bins_tensor"}
    with pytest.raises(Exception, match="the edges must increase"):
        FAMILY.evaluate([X, EDGES[::-1]], call)
