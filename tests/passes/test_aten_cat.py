"""aten-cat: tensors joined and taken apart."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, run_pass
from passes.aten.aten_cat import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-cat"
X = array_of(7, 3, 4)
A, B = array_of(2, 3), array_of(2, 3, seed=6)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_joined_along_an_axis_and_along_a_new_one(axis: int, dynamic: bool) -> None:
    for operator in ("cat", "concat", "stack"):
        replaced(PASS, FAMILY.evaluate, operator, [[A, B, A], axis], dynamic=dynamic)
    ints = (A * 9).astype(np.int64)
    replaced(PASS, FAMILY.evaluate, "cat", [[ints, B], axis], dynamic=dynamic)


def test_an_empty_vector_is_joined_to_anything() -> None:
    replaced(PASS, FAMILY.evaluate, "cat", [[array_of(0), A, B], 1])


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("operator", ["hstack", "vstack", "dstack", "column_stack"])
def test_stacks(operator: str, rank: int) -> None:
    for dynamic in (False, True):
        shape = (2, 2, 2)[:rank]
        several = [array_of(*shape), array_of(*shape, seed=6)]
        replaced(PASS, FAMILY.evaluate, operator, [several], dynamic=dynamic and rank > 0)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("operator", "overload", "arguments"),
    [
        ("split", "Tensor", [3, 0]),
        ("split", "sizes", [[1, 4, 2], 0]),
        ("split_with_sizes", "", [[2, 2], -1]),
        ("chunk", "", [3, 0]),
        ("chunk", "", [2, -1]),
        ("unsafe_chunk", "", [3, 0]),
        ("tensor_split", "sections", [3, 0]),
        ("tensor_split", "indices", [[2, 5], 0]),
        ("vsplit", "int", [7]),
        ("hsplit", "array", [[1]]),
        ("dsplit", "int", [2]),
        ("unbind", "int", [1]),
    ],
)
def test_taken_apart(operator: str, overload: str, arguments: list[Any], dynamic: bool) -> None:
    how: dict[str, Any] = {"overload": overload, "dynamic": dynamic}
    for x in (X, X > 0):
        replaced(PASS, FAMILY.evaluate, operator, [x, *arguments], **how)


def test_places_from_the_end_need_the_size() -> None:
    replaced(PASS, FAMILY.evaluate, "tensor_split", [X, [2, -1], 0], overload="indices")
    model, _ = called("tensor_split", [X, [2, -1], 0], [X, X, X], overload="indices", dynamic=True)
    assert_refused(PASS, model, "the size of axis 0 of x0 must be known; it is open")


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("places", [[2, 5], [-2, 40], [4, 1]])
def test_taken_apart_at_places_that_are_computed(places: list[int], dynamic: bool) -> None:
    how: dict[str, Any] = {"overload": "tensor_indices_or_sections", "dynamic": dynamic}
    inputs = [X, np.array(places), 0]
    replaced(PASS, FAMILY.evaluate, "tensor_split", inputs, fed=2, **how)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_computed_number_of_parts_is_that_of_the_results(dynamic: bool) -> None:
    how: dict[str, Any] = {"overload": "tensor_indices_or_sections", "dynamic": dynamic}
    replaced(PASS, FAMILY.evaluate, "tensor_split", [X, np.array(3), 0], fed=2, **how)


@pytest.mark.parametrize("dynamic", [False, True])
def test_tensors_of_one_shape(dynamic: bool) -> None:
    several = [array_of(3, 1), array_of(4), array_of(2, 1, 1)]
    replaced(PASS, FAMILY.evaluate, "broadcast_tensors", [several], dynamic=dynamic)
    lines = [array_of(2), array_of(3), array_of(4)]
    for indexing in ("ij", "xy"):
        text = np.array(indexing, object)
        replaced(PASS, FAMILY.evaluate, "meshgrid", [lines, text], overload="indexing",
                 dynamic=dynamic)  # fmt: skip
    replaced(PASS, FAMILY.evaluate, "meshgrid", [lines], dynamic=dynamic)


def test_in_a_branch() -> None:
    model = aten_model("split", [4, 2], [np.array(2), np.array(0)], overload="Tensor")
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
