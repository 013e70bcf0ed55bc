"""aten-select: parts that are read and written."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import run_pass
from passes.aten.aten_select import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-select"
X = array_of(5, 3, 4)
READ: list[tuple[str, str, list[Any]]] = [
    ("select", "int", [0, 2]),
    ("select", "int", [1, -1]),
    ("narrow", "", [0, 1, 3]),
    ("narrow", "", [-1, -3, 2]),
    ("slice", "Tensor", [0, 1, 4, 1]),
    ("slice", "Tensor", [0, None, None, 2]),
    ("slice", "Tensor", [2, -3, -1, 1]),
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("operator", "overload", "arguments"), READ)
def test_parts_are_read(operator: str, overload: str, arguments: list[Any], dynamic: bool) -> None:
    for x in (X, (X * 9).astype(np.int64)):
        replaced(PASS, FAMILY.evaluate, operator, [x, *arguments], overload=overload,
                 dynamic=dynamic)  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True])
def test_elements_are_read_at_places(dynamic: bool) -> None:
    how: dict[str, Any] = {"dynamic": dynamic}
    places = np.array([2, 0, 2, 1])
    replaced(PASS, FAMILY.evaluate, "index_select", [X, -1, places], **how)
    replaced(PASS, FAMILY.evaluate, "take", [X, np.array([[0, 59], [7, 7]])], fed=2, **how)
    at = np.array([[[0, 2, 3]], [[1, 1, 0]]])
    replaced(PASS, FAMILY.evaluate, "gather", [X, 2, at, 0], **how)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_tensor_in_the_place_of_a_part(dynamic: bool) -> None:
    how: dict[str, Any] = {"dynamic": dynamic}
    replaced(PASS, FAMILY.evaluate, "select_scatter", [X, array_of(5, 4), 1, 2], fed=2, **how)
    replaced(
        PASS, FAMILY.evaluate, "slice_scatter", [X, array_of(2, 3, 4), 0, 1, 3, 1], fed=2, **how
    )
    replaced(
        PASS, FAMILY.evaluate, "slice_scatter", [X, array_of(3, 3, 4), 0, None, None, 2], fed=2
    )


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("narrow", [4], [np.array(n) for n in (0, 1, 2)])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


@pytest.mark.parametrize("dynamic", [False, True])
def test_rows_of_a_table(dynamic: bool) -> None:
    table = array_of(5, 3)
    for places in (np.array([[0, 4], [2, 2]]), np.array(3)):
        arguments = [table, places, -1, False, False]
        replaced(PASS, FAMILY.evaluate, "embedding", arguments, fed=2, dynamic=dynamic)
