"""scatternd-to-scatterelements: linear positions, computed and constant, with reductions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.scatter_models import (
    NUMBERS,
    PLACES,
    feed_of,
    nd_cases,
    scatter_model,
    scatter_nd,
)

Array = np.ndarray[Any, Any]
PASS = "scatternd-to-scatterelements"


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
@pytest.mark.parametrize("opset", [11, 13, 16, 18])
def test_constant_indices(dtype: str, opset: int) -> None:
    indices = np.array([[[0, -1], [1, 0]], [[-2, 1], [1, 1]]])
    model = scatter_model("ScatterND", indices, (2, 2, 4), data=(2, 3, 4), dtype=dtype, opset=opset)
    feed = feed_of(model)
    done = assert_rewrite(
        PASS, model, feeds=[feed], after=["Reshape", "Reshape", "ScatterElements", "Reshape"]
    )
    wanted = scatter_nd(feed["x"], indices, feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("opset", [11, 12, 13, 18])
@pytest.mark.parametrize("place", PLACES)
def test_indices_computed_at_run_time(opset: int, place: str) -> None:
    model = scatter_model("ScatterND", (3, 2), (3, 4), data=(2, 3, 4), opset=opset, place=place)
    feed = {**feed_of(model), "i": np.array([[0, -1], [-2, 0], [1, 1]])}
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], feed["i"], feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_whole_tuples() -> None:
    model = scatter_model("ScatterND", ("N", 2), ("N",), data=("R", 4))
    feed = {**feed_of(model, {"N": 3, "R": 5}), "i": np.array([[-1, 3], [0, -4], [4, 0]])}
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert "Expand" not in done.ops
    wanted = scatter_nd(feed["x"], feed["i"], feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_dynamic_leading_sizes() -> None:
    model = scatter_model("ScatterND", ("P", "Q", 1), ("P", "Q", 2, 3), data=("R", 2, 3))
    feed = feed_of(model, {"P": 2, "Q": 2, "R": 7})
    feed["i"] = np.array([[[6], [-7]], [[2], [3]]])
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], feed["i"], feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_reductions_are_carried_over(reduction: str, dtype: str) -> None:
    indices = np.array([[1], [0]] if reduction == "none" else [[1], [1]])
    model = scatter_model(
        "ScatterND", indices, (2, 4), data=(6, 4), dtype=dtype, reduction=reduction
    )
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed], after=["ScatterElements"])
    written = {a.name for node in done.after.graph.node for a in node.attribute}
    assert ("reduction" in written) == (reduction != "none")
    wanted = scatter_nd(feed["x"], indices, feed["u"], reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@given(case=nd_cases(), computed=st.booleans())
def test_any_indices(case: tuple[tuple[int, ...], Array], computed: bool) -> None:
    shape, indices = case
    updates = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    given_ = indices.shape if computed else indices
    model = scatter_model("ScatterND", given_, updates, data=shape)
    feed = feed_of(model)
    wanted = scatter_nd(feed["x"], indices, feed["u"])
    if computed:
        feed["i"] = indices
    done = assert_rewrite(PASS, model, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
