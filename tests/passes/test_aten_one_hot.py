"""aten-one-hot: numbers of classes as rows."""

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_one_hot import FAMILY
from tests.passes.aten_models import aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-one-hot"
K = np.array([[0, 2], [3, 1]])


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("classes", [4, 7, -1])
def test_classes(classes: int, dynamic: bool) -> None:
    done = replaced(PASS, FAMILY.evaluate, "one_hot", [K, classes], dynamic=dynamic)
    found = outputs_of(done.after, {"x0": K})["y0"]
    np.testing.assert_array_equal(found, np.eye(max(classes, 4))[K])
    replaced(PASS, FAMILY.evaluate, "one_hot", [np.array(2), classes], dynamic=dynamic)


@pytest.mark.parametrize("x", [[-1, 0], [5], []])
def test_the_numpy_model_takes_classes_alone(x: list[int]) -> None:
    with pytest.raises(Exception, match="the numbers must be classes"):
        FAMILY.evaluate([np.array(x, np.int64), np.array(4)], {"operator": "one_hot"})


def test_in_a_branch() -> None:
    model = aten_model("one_hot", [4], [np.array(3)], dtype=7)
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
