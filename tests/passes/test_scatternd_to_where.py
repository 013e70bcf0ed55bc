"""scatternd-to-where: a mask, a map, and the updates spread."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.scatter_models import (
    NUMBERS,
    PLACES,
    feed_of,
    nd_cases,
    scatter_model,
    scatter_nd,
)

PASS = "scatternd-to-where"


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool", "uint8", "int8"])
@pytest.mark.parametrize("opset", [11, 13, 16, 18])
def test_rows_in_any_order(dtype: str, opset: int) -> None:
    indices = np.array([[4], [-6], [2]])
    model = scatter_model("ScatterND", indices, (3, 4), data=(6, 4), dtype=dtype, opset=opset)
    feed = feed_of(model)
    ops = ["Gather", "Where"]
    if dtype in ("bool", "uint8", "int8"):
        ops = ["Cast", "Cast", *ops, "Cast"]
    done = assert_rewrite(PASS, model, feeds=[feed], after=ops)
    wanted = feed["x"].copy()
    wanted[[4, 0, 2]] = feed["u"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("place", PLACES)
def test_every_second_column(place: str) -> None:
    indices = np.stack(np.meshgrid([0, 1], [0, 2, 4], indexing="ij"), axis=-1)
    model = scatter_model("ScatterND", indices, (2, 3, 4), data=(2, 6, 4), place=place)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = feed["x"].copy()
    wanted[:, ::2] = feed["u"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_not_a_number_stays_where_it_is() -> None:
    model = scatter_model("ScatterND", np.array([[0], [2]]), (2, 2), data=(3, 2))
    x = np.array([[1, 2], [np.nan, np.inf], [3, 4]], dtype=np.float32)
    u = np.array([[np.nan, 5], [-np.inf, 6]], dtype=np.float32)
    done = assert_rewrite(PASS, model, feeds=[{"x": x, "u": u}])
    wanted = np.array([u[0], x[1], u[1]])
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x, "u": u})["y"], wanted)


def test_a_single_update_is_broadcast() -> None:
    model = scatter_model("ScatterND", np.array([1, 2]), ("C",), data=(3, 4, "C"))
    feed = feed_of(model, {"C": 5})
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Reshape", "Where"])
    wanted = feed["x"].copy()
    wanted[1, 2] = feed["u"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_dynamic_trailing_sizes() -> None:
    indices = np.array([[[0], [3]], [[5], [2]]])
    model = scatter_model("ScatterND", indices, (2, 2, "C", "D"), data=(6, "C", "D"))
    feed = feed_of(model, {"C": 3, "D": 2})
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], indices, feed["u"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_reductions_with_the_same_place_twice(reduction: str, dtype: str) -> None:
    indices = np.array([[4], [0], [-2]])
    model = scatter_model(
        "ScatterND", indices, (3, 4), data=(6, 4), dtype=dtype, reduction=reduction
    )
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert done.ops.count("Where") == 2
    wanted = scatter_nd(feed["x"], indices, feed["u"], reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_sums_keep_the_order_of_the_updates() -> None:
    model = scatter_model("ScatterND", np.array([[0], [0]]), (2, 1), data=(1, 1), reduction="add")
    x, u = np.array([[1e8]], np.float32), np.array([[-1e8], [1]], np.float32)
    done = assert_rewrite(PASS, model, feeds=[{"x": x, "u": u}])
    assert outputs_of(done.after, {"x": x, "u": u})["y"].tolist() == [[1.0]]


def test_refusals() -> None:
    def of(indices: list[list[int]], **attributes: Any) -> Any:
        array = np.array(indices)
        return scatter_model("ScatterND", array, (len(array), 4), data=(6, 4), **attributes)

    assert_refused(PASS, of([[1], [-5]]), "written twice")
    assert_refused(PASS, of([[1], [6]]), "the indices must lie in an axis of 6; one does not")
    assert_refused(
        PASS, of([[1]] * 9, reduction="add"), "at most 8 updates must go to the same place; 9 do"
    )
    assert_refused(PASS, of([[1]], dtype="bool", reduction="add"), "dtype bool")
    model = scatter_model("ScatterND", (2, 1), (2, 4), data=(6, 4))
    assert_refused(PASS, model, "computed at run time")
    model = scatter_model("ScatterND", np.array([[1], [3]]), (2, 4), data=("R", 4))
    assert_refused(PASS, model, "the sizes of the data must be known")
    model = scatter_model("ScatterND", np.zeros((0, 1)), (0, 4), data=(6, 4))
    assert_refused(PASS, model, "there must be indices; there are none")


def test_the_size_of_the_mask_is_an_option() -> None:
    model = scatter_model("ScatterND", np.array([[1], [3]]), (2, 4), data=(6, 4))
    done = run_pass(PASS, model, options={"max_elements": 5})
    assert not done.with_status(Status.APPLIED)
    assert done.reasons == ["the mask must have at most max_elements = 5 elements; it would have 6"]
    assert run_pass(PASS, model, options={"max_elements": 6}).with_status(Status.APPLIED)


@given(data=st.data(), reduction=st.sampled_from(("none", "add", "mul", "max", "min")))
def test_any_indices(data: st.DataObject, reduction: str) -> None:
    shape, indices = data.draw(nd_cases(unique=reduction == "none"))
    updates = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    model = scatter_model("ScatterND", indices, updates, data=shape, reduction=reduction)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], indices, feed["u"], reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
