"""aten-scatter: what is written to places."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_scatter import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-scatter"
X = array_of(5, 3, 4)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_elements_are_written_to_places(dtype: Any, dynamic: bool) -> None:
    x, source = (X * 9).astype(dtype), (array_of(5, 3, 4, seed=8) * 9).astype(dtype)
    at = np.argsort(X, axis=0)[:3, :, :2]
    how: dict[str, Any] = {"dynamic": dynamic}
    replaced(PASS, FAMILY.evaluate, "scatter", [x, 0, at, source], overload="src", fed=1, **how)
    replaced(PASS, FAMILY.evaluate, "scatter", [x, 0, at, 2], overload="value", **how)
    twice = np.zeros_like(at)
    replaced(PASS, FAMILY.evaluate, "scatter_add", [x, 0, twice, source], rtol=1e-5, **how)
    for name, opset in (("sum", 17), ("prod", 17), ("amax", 18), ("amin", 18), ("mean", 17)):
        for own in (0, 1) if name != "mean" or dtype is np.float32 else ():
            arguments = [x, 0, at, source, np.array(name, object), own]
            replaced(PASS, FAMILY.evaluate, "scatter_reduce", arguments, overload="two",
                     opset=opset, rtol=1e-5, **how)  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True])
def test_whole_parts_are_written_to_places(dynamic: bool) -> None:
    places, source = np.array([2, 0]), array_of(5, 2, 4)
    how: dict[str, Any] = {"dynamic": dynamic}
    replaced(PASS, FAMILY.evaluate, "index_copy", [X, 1, places, source], **how)
    replaced(PASS, FAMILY.evaluate, "index_add", [X, 1, places, source, 3], rtol=1e-6, **how)
    replaced(PASS, FAMILY.evaluate, "index_fill", [X, 1, places, 2.5], overload="int_Scalar", **how)
    done = replaced(
        PASS, FAMILY.evaluate, "index_add", [X, 0, np.array([1, 1]), X[:2], 1], rtol=1e-6
    )
    given = outputs_of(done.after, {"x0": X})["y0"]
    np.testing.assert_allclose(given[1], X[0] + 2 * X[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_numbers_are_put_into_what_is_flat(dtype: Any, dynamic: bool) -> None:
    x, source = (X * 9).astype(dtype), (array_of(2, 2, seed=8) * 9).astype(dtype)
    places = np.array([[3, -1], [0, 17]])
    how: dict[str, Any] = {"fed": 3, "dynamic": dynamic, "rtol": 1e-6}
    for one in (x, x.ravel()):
        for add in (False, True):
            replaced(PASS, FAMILY.evaluate, "put", [one, places, source, add], **how)
    twice = np.array([[3, 3], [0, 3]])
    replaced(PASS, FAMILY.evaluate, "put", [x, twice, source, True], **how)


def test_in_a_branch() -> None:
    at = np.array([0, 3])
    model = aten_model("index_fill", [4], [np.array(0), at, np.array(1.5)], overload="int_Scalar")
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
