"""scatternd-to-slice-concat: assignments to a block."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.scatter_models import (
    NUMBERS,
    PLACES,
    feed_of,
    nd_cases,
    scatter_model,
    scatter_nd,
)

Array = np.ndarray[Any, Any]
PASS = "scatternd-to-slice-concat"
COLUMNS = np.array([[[0, 2], [0, 3]], [[1, 2], [1, 3]]])


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
@pytest.mark.parametrize("opset", [11, 13, 16, 18])
def test_an_assignment_to_columns(dtype: str, opset: int) -> None:
    model = scatter_model("ScatterND", COLUMNS, (2, 2, 4), data=(2, 6, 4), dtype=dtype, opset=opset)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Slice", "Slice", "Concat"])
    wanted = feed["x"].copy()
    wanted[:, 2:4] = feed["u"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    model = scatter_model("ScatterND", np.array([[-2]]), (1, 4), data=(3, 4), place=place)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = feed["x"].copy()
    wanted[1] = feed["u"][0]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_a_block_inside_two_axes() -> None:
    indices = np.array([[1, 1], [1, 2], [2, 1], [2, 2]])
    model = scatter_model("ScatterND", indices, (4, 3), data=(4, 4, 3))
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert done.ops.count("Concat") == 2
    wanted = feed["x"].copy()
    wanted[1:3, 1:3] = feed["u"].reshape(2, 2, 3)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_dynamic_sizes() -> None:
    model = scatter_model("ScatterND", np.array([[0], [1]]), (2, "C", "D"), data=("R", "C", "D"))
    feeds = [feed_of(model, {"R": rows, "C": 3, "D": 2}) for rows in (2, 5)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["Slice", "Concat"])
    for feed in feeds:
        wanted = feed["x"].copy()
        wanted[:2] = feed["u"]
        np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_updates_are_reshaped_at_run_time() -> None:
    indices = COLUMNS.reshape(4, 2)
    model = scatter_model("ScatterND", indices, (4, "C", "D"), data=(2, 6, "C", "D"))
    feed = feed_of(model, {"C": 3, "D": 2})
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert "Shape" in done.ops
    wanted = scatter_nd(feed["x"], indices, feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
def test_reductions(reduction: str) -> None:
    model = scatter_model("ScatterND", COLUMNS, (2, 2, 4), data=(2, 6, 4), reduction=reduction)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], COLUMNS, feed["u"], reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_refusals() -> None:
    def of(indices: list[list[int]], **attributes: Any) -> Any:
        array = np.array(indices).reshape(-1, len(indices[0]) if indices else 1)
        return scatter_model("ScatterND", array, (len(array), 4), data=(6, 4), **attributes)

    assert_refused(
        PASS, of([[0], [2]]), "the indices must be a block in row-major order; they are not"
    )
    assert_refused(
        PASS, of([[1], [0]]), "the indices must be a block in row-major order; they are not"
    )
    assert_refused(
        PASS, of([[1], [1]]), "the indices must be a block in row-major order; they are not"
    )
    assert_refused(PASS, of([[6]]), "the indices must lie in an axis of 6; one does not")
    assert_refused(PASS, of([[-7]]), "the indices must lie in an axis of 6; one does not")
    assert_refused(
        PASS,
        of([[1]], dtype="bool", reduction="add"),
        "a reduction must be of a known dtype of numbers; 'add' is of bool",
    )
    model = scatter_model("ScatterND", (2, 1), (2, 4), data=(6, 4))
    assert_refused(PASS, model, "computed at run time")
    model = scatter_model("ScatterND", np.array([[-1]]), (1, 4), data=("R", 4))
    assert_refused(
        PASS, model, "indices must not be negative on an axis of unknown size; one is -1"
    )


@given(case=nd_cases(block=True), reduction=st.sampled_from(("none", "add")))
def test_any_block(case: tuple[tuple[int, ...], Array], reduction: str) -> None:
    shape, indices = case
    updates = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    model = scatter_model("ScatterND", indices, updates, data=shape, reduction=reduction)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], indices, feed["u"], reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
