"""aten-segment-reduce: rows reduced segment by segment."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_segment_reduce import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-segment-reduce"
X = array_of(6, 2)
LENGTHS = np.array([2, 0, 1, 3])


def arguments(x: Any, how: str, initial: float | None, lengths: Any = LENGTHS) -> list[Any]:
    """Return the arguments, of which three are inputs."""
    return [x, np.array(how, object), lengths, None, None, 0, False, initial]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("initial", [None, 0.5])
@pytest.mark.parametrize("how", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("x", [X, X[:, 0].copy(), X.astype(np.float64), array_of(6, 2, 3)])
def test_reductions(x: Any, how: str, initial: float | None, dynamic: bool) -> None:
    given = arguments(x, how, initial)
    replaced(PASS, FAMILY.evaluate, "segment_reduce", given, dynamic=dynamic, rtol=1e-6, atol=1e-6)


def test_lengths_that_are_computed() -> None:
    model, feed = called("segment_reduce", arguments(X, "sum", None), [X[:4]])
    done = run_pass(PASS, model)
    found = outputs_of(done.after, feed)["y0"]
    np.testing.assert_allclose(found, [X[:2].sum(0), [0, 0], X[2], X[3:].sum(0)], rtol=1e-6)


def test_in_a_branch() -> None:
    strings = [np.array("max", object), LENGTHS, None, None, np.array(0)]
    done = run_pass(PASS, in_branch(aten_model("segment_reduce", [6, 2], strings)))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


def test_the_numpy_model_holds_lengths_to_the_rows() -> None:
    given: list[Any] = [
        np.asarray(v) if v is not None else None for v in arguments(X[:3], "sum", 0)
    ]
    with pytest.raises(Exception, match="the lengths must add up to the rows"):
        FAMILY.evaluate(given, {"operator": "segment_reduce"})
