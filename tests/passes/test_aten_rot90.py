"""aten-rot90: elements that change their places alone."""

from typing import Any

import numpy as np
import pytest

from passes.aten.aten_rot90 import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-rot90"
MOVES: list[tuple[str, list[Any]]] = [
    ("rot90", [1, [0, 1]]),
    ("rot90", [-1, [2, 0]]),
    ("rot90", [2, [1, 2]]),
    ("rot90", [4, [0, 1]]),
    ("fliplr", []),
    ("flipud", []),
    ("roll", [[1, -2], [0, 2]]),
    ("roll", [[9], [-1]]),
    ("movedim", [[0, 1], [2, 0]]),
    ("swapaxes", [0, -1]),
    ("swapdims", [1, 1]),
    ("mT", []),
    ("numpy_T", []),
]


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("operator", "arguments"), MOVES)
def test_moves(operator: str, arguments: list[Any], dynamic: bool, dtype: str) -> None:
    x = (array_of(2, 3, 4) * 9).astype(dtype)
    overload = "intlist" if operator == "movedim" else ""
    how: dict[str, Any] = {"dynamic": dynamic, "overload": overload}
    replaced(PASS, FAMILY.evaluate, operator, [x, *arguments], **how)


@pytest.mark.parametrize("offset", [-5, -1, 0, 2, 9])
@pytest.mark.parametrize(
    ("operator", "axes"), [("diagonal", [0, 1]), ("linalg_diagonal", [-2, -1])]
)
def test_diagonals(operator: str, axes: list[int], offset: int) -> None:
    x = array_of(3, 4, 2)
    replaced(PASS, FAMILY.evaluate, operator, [x, offset, *axes])
    replaced(PASS, FAMILY.evaluate, operator, [x, offset, -1, 0])


def test_shifts_of_all_elements_and_groups_of_channels() -> None:
    replaced(PASS, FAMILY.evaluate, "roll", [array_of(2, 3), [4], []])
    for dynamic in (False, True):
        replaced(PASS, FAMILY.evaluate, "roll", [array_of(0, 3), [1], [0]], dynamic=dynamic)
    replaced(PASS, FAMILY.evaluate, "channel_shuffle", [array_of(2, 6, 3), 3])


@pytest.mark.parametrize("dynamic", [False, True])
def test_elements_along_an_axis_broadcast(dynamic: bool) -> None:
    x = array_of(3, 4)
    for places in (np.array([[0, 3, 1]] * 3), np.array([[2, 0]])):
        replaced(PASS, FAMILY.evaluate, "take_along_dim", [x, places, 1], fed=2, dynamic=dynamic)
    flat = np.array([11, 0, 5])
    replaced(PASS, FAMILY.evaluate, "take_along_dim", [x, flat, None], fed=2, dynamic=dynamic)


@pytest.mark.parametrize("offset", [0, 1, -2, 5])
@pytest.mark.parametrize("shape", [(3, 4), (4, 2, 3), (0, 3), (3, 0, 2)])
def test_diagonals_of_open_sizes(shape: tuple[int, ...], offset: int) -> None:
    x = array_of(*shape)
    arguments = [x, offset, -1, 0]
    replaced(PASS, FAMILY.evaluate, "diagonal", arguments, dynamic=True)
    replaced(PASS, FAMILY.evaluate, "linalg_diagonal", [x, offset, -2, -1], dynamic=True)
