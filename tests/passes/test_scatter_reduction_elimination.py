"""scatter-reduction-elimination: gather, combine, write."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import EXACT, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.scatter_models import (
    NUMBERS,
    PLACES,
    feed_of,
    nd_cases,
    scatter_elements,
    scatter_model,
    scatter_nd,
)

Array = np.ndarray[Any, Any]
PASS = "scatter-reduction-elimination"
REDUCTIONS = ("add", "mul", "max", "min")
OPERATION = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_rows(reduction: str, dtype: str) -> None:
    indices = np.array([[3], [-6]])
    model = scatter_model(
        "ScatterND", indices, (2, 4), data=(6, 4), dtype=dtype, reduction=reduction
    )
    feed = feed_of(model)
    # Not assert_rewrite: onnxruntime has no reductions of float16, the original does not run.
    done = run_pass(PASS, model)
    assert done.ops == ["Gather", OPERATION[reduction], "ScatterND"]
    assert done.with_status(Status.APPLIED)[0].sites[0].accuracy is EXACT
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    wanted = scatter_nd(feed["x"], indices, feed["u"], reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("opset", [16, 18, 21])
@pytest.mark.parametrize("place", PLACES)
def test_the_same_row_twice(opset: int, place: str) -> None:
    indices = np.array([[3], [-3], [0]])
    model = scatter_model(
        "ScatterND", indices, (3, 4), data=(6, 4), reduction="add", opset=opset, place=place
    )
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], indices, feed["u"], "add")
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_sums_keep_the_order_of_the_updates() -> None:
    model = scatter_model("ScatterND", np.array([[0], [0]]), (2, 1), data=(1, 1), reduction="add")
    x, u = np.array([[1e8]], np.float32), np.array([[-1e8], [1]], np.float32)
    done = assert_rewrite(PASS, model, feeds=[{"x": x, "u": u}])
    assert outputs_of(done.after, {"x": x, "u": u})["y"].tolist() == [[1.0]]


def test_tuples_into_dynamic_sizes() -> None:
    indices = np.array([[1, 2], [0, 1]])
    model = scatter_model("ScatterND", indices, (2, "D"), data=("R", "C", "D"), reduction="mul")
    feed = feed_of(model, {"R": 3, "C": 4, "D": 2})
    done = assert_rewrite(PASS, model, feeds=[feed], after=["GatherND", "Mul", "ScatterND"])
    wanted = scatter_nd(feed["x"], indices, feed["u"], "mul")
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_a_single_index_may_be_computed() -> None:
    model = scatter_model("ScatterND", (1, 2), (1, 4), data=(2, 3, 4), reduction="add")
    feed = {**feed_of(model), "i": np.array([[1, -2]])}
    done = assert_rewrite(PASS, model, feeds=[feed], after=["GatherND", "Add", "ScatterND"])
    wanted = scatter_nd(feed["x"], feed["i"], feed["u"], "add")
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    model = scatter_model("ScatterElements", (3, 1), (3, 1), data=(3, 5), axis=1, reduction="max")
    feed = {**feed_of(model), "i": np.array([[4], [-5], [4]])}
    ops = ["GatherElements", "Max", "ScatterElements"]
    done = assert_rewrite(PASS, model, feeds=[feed], after=ops)
    wanted = scatter_elements(feed["x"], feed["i"], feed["u"], 1, "max")
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("indices", [[[1, 0, 2], [0, 2, -4]], [[1, 0, 2], [1, 2, -1]]])
def test_elements(reduction: str, indices: list[list[int]]) -> None:
    given_ = np.array(indices)
    model = scatter_model(
        "ScatterElements", given_, (2, 3), data=(4, 3), axis=0, reduction=reduction
    )
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_elements(feed["x"], given_, feed["u"], 0, reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@given(case=nd_cases(unique=False), reduction=st.sampled_from(REDUCTIONS))
def test_any_indices(case: tuple[tuple[int, ...], Array], reduction: str) -> None:
    shape, indices = case
    updates = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    model = scatter_model("ScatterND", indices, updates, data=shape, reduction=reduction)
    feed = feed_of(model)
    done = assert_rewrite(PASS, model, feeds=[feed])
    wanted = scatter_nd(feed["x"], indices, feed["u"], reduction)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
