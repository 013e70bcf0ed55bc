"""scatter-narrow-to-int32: bools and narrow integers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.scatter_models import (
    PLACES,
    feed_of,
    nd_cases,
    scatter_elements,
    scatter_model,
    scatter_nd,
)

Array = np.ndarray[Any, Any]
PASS = "scatter-narrow-to-int32"
NARROW = ("bool", "int8", "int16", "uint8", "uint16")


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    ("op", "opset"), [("ScatterND", 11), ("ScatterND", 18), ("ScatterElements", 13), ("Scatter", 9)]
)
def test_every_operator_and_dtype(op: str, opset: int, dtype: str) -> None:
    if op == "ScatterND":
        model = scatter_model(op, (2, 1), (2, 4), data=(6, 4), dtype=dtype, opset=opset)
        feed = {**feed_of(model), "i": np.array([[5], [0]])}
        wanted = scatter_nd(feed["x"], feed["i"], feed["u"])
    else:
        model = scatter_model(op, (6, 1), (6, 1), data=(6, 4), dtype=dtype, opset=opset, axis=1)
        feed = {**feed_of(model), "i": np.array([[3], [0], [1], [1], [2], [3]])}
        wanted = scatter_elements(feed["x"], feed["i"], feed["u"], 1)
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Cast", "Cast", op, "Cast"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere_and_dynamic(place: str) -> None:
    model = scatter_model(
        "ScatterND", ("N", 1), ("N", "C"), data=("R", "C"), dtype="bool", place=place
    )
    feed = {**feed_of(model, {"N": 2, "C": 3, "R": 5}), "i": np.array([[4], [1]])}
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], feed["i"], feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@given(case=nd_cases(), dtype=st.sampled_from(("bool", "uint8")))
def test_any_indices(case: tuple[tuple[int, ...], Array], dtype: str) -> None:
    shape, indices = case
    updates = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    model = scatter_model("ScatterND", indices, updates, data=shape, dtype=dtype)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], indices, feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
