"""scatternd-drop-reduction-none: the default is not written."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.scatter_models import PLACES, feed_of, nd_cases, scatter_model, scatter_nd

Array = np.ndarray[Any, Any]
PASS = "scatternd-drop-reduction-none"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [16, 18, 21])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_the_attribute_is_gone(place: str, opset: int, dtype: str) -> None:
    model = scatter_model(
        "ScatterND",
        ("N", 1),
        ("N", "C"),
        data=("R", "C"),
        opset=opset,
        place=place,
        dtype=dtype,
        reduction="none",
    )
    feed = {**feed_of(model, {"N": 2, "R": 5, "C": 3}), "i": np.array([[4], [-5]])}
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED)
    assert b"reduction" in model.SerializeToString()
    assert b"reduction" not in done.after.SerializeToString()
    wanted = scatter_nd(feed["x"], feed["i"], feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@given(case=nd_cases())
def test_any_indices(case: tuple[tuple[int, ...], Array]) -> None:
    shape, indices = case
    updates = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    model = scatter_model("ScatterND", indices, updates, data=shape, reduction="none")
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Constant", "ScatterND"])
    wanted = scatter_nd(feed["x"], indices, feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
