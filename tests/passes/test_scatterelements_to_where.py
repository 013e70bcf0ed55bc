"""scatterelements-to-where: whole lines and single elements, Scatter too."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.scatter_models import NUMBERS, PLACES, feed_of, scatter_elements, scatter_model

PASS = "scatterelements-to-where"
SCATTERED = np.array([[0, -1, 2], [3, 0, 1]])


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool", "int8"])
@pytest.mark.parametrize(
    ("op", "opset"),
    [("Scatter", 9), ("Scatter", 10)] + [("ScatterElements", opset) for opset in (11, 13, 16, 18)],
)
def test_single_elements(op: str, opset: int, dtype: str) -> None:
    indices = np.abs(SCATTERED)
    model = scatter_model(op, indices, (2, 3), data=(4, 3), axis=0, dtype=dtype, opset=opset)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert {"Gather", "Where"} <= set(done.ops)
    wanted = scatter_elements(feed["x"], indices, feed["u"], 0)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("place", PLACES)
def test_negative_indices_everywhere(place: str) -> None:
    model = scatter_model("ScatterElements", SCATTERED, (2, 3), data=(4, 3), axis=0, place=place)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_elements(feed["x"], SCATTERED, feed["u"], 0)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_one_column_is_broadcast() -> None:
    indices = np.full((3, 1, 4), 2)
    model = scatter_model("ScatterElements", indices, (3, 1, 4), data=(3, 5, 4), axis=1)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Where"])
    wanted = feed["x"].copy()
    wanted[:, 2:3] = feed["u"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_some_rows() -> None:
    indices = np.broadcast_to(np.array([[3], [-4]]), (2, 4))
    model = scatter_model("ScatterElements", indices, (2, 4), data=(5, 4), axis=-2)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Gather", "Where"])
    wanted = feed["x"].copy()
    wanted[[3, 1]] = feed["u"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_lines_that_do_not_reach_the_end_are_elements() -> None:
    indices = np.array([[3, 3], [1, 1]])
    model = scatter_model("ScatterElements", indices, (2, 2), data=(5, 4), axis=0)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Reshape", "Gather", "Where"])
    wanted = feed["x"].copy()
    wanted[[3, 1], :2] = feed["u"]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("lines", [True, False])
def test_reductions_with_the_same_place_twice(reduction: str, lines: bool) -> None:
    indices = np.array([[1, 1, 1], [1, 1, 1]] if lines else [[1, 0, 1], [1, 2, 3]])
    model = scatter_model(
        "ScatterElements", indices, (2, 3), data=(4, 3), axis=0, reduction=reduction
    )
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert done.ops.count("Where") == 2
    wanted = scatter_elements(feed["x"], indices, feed["u"], 0, reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_refusals() -> None:
    def of(indices: list[list[int]], **attributes: Any) -> Any:
        array = np.array(indices)
        return scatter_model(
            "ScatterElements", array, array.shape, data=(4, 3), axis=0, **attributes
        )

    assert_refused(PASS, of([[1, 1, 1], [-3, 0, 0]]), "written twice")
    assert_refused(PASS, of([[1, 1, 1], [1, 1, 1]]), "written twice")
    assert_refused(PASS, of([[4, 0, 0]]), "the indices must lie in an axis of 4; one does not")
    assert_refused(PASS, of([[1, 0, 0]], dtype="bool", reduction="add"), "dtype bool")
    assert_refused(
        PASS,
        of([[0, 1, 2]] * 9, reduction="add"),
        "at most 8 updates must go to the same place; 9 do",
    )
    model = scatter_model("ScatterElements", (1, 3), (1, 3), data=(4, 3), axis=0)
    assert_refused(PASS, model, "computed at run time")
    indices = np.array([[0, 1, 2]])
    model = scatter_model("ScatterElements", indices, (1, 3), data=("R", 3), axis=0)
    assert_refused(PASS, model, "the sizes of the data must be known")


@given(data=st.data(), reduction=st.sampled_from(("none", "add")))
def test_any_indices(data: st.DataObject, reduction: str) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    part = [data.draw(st.integers(1, size)) for size in shape]
    size = shape[axis]
    lead = [count for i, count in enumerate(part) if i != axis % len(shape)]
    lines = [
        data.draw(st.permutations(range(-size, 0)))[: part[axis]] for _ in range(int(np.prod(lead)))
    ]
    indices = np.moveaxis(np.array(lines).reshape(*lead, part[axis]), -1, axis)
    model = scatter_model(
        "ScatterElements", indices, indices.shape, data=shape, axis=axis, reduction=reduction
    )
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_elements(feed["x"], indices, feed["u"], axis, reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
