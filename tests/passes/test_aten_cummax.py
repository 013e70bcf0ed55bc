"""aten-cummax: running maxima, minima and products, with places, ties and NaN."""

import numpy as np
import pytest

from graphfix.testing import outputs_of
from passes.aten.aten_cummax import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-cummax"


@pytest.mark.parametrize("operator", ["cummax", "cummin"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_values_and_the_last_place_of_equal_ones(operator: str, dynamic: bool) -> None:
    for x in (
        array_of(3, 7),
        np.round(array_of(3, 7)),
        np.array([[2, 2, 1, 3, 3], [5, 4, 4, 6, 0]]),
    ):
        for axis in (0, -1):
            replaced(PASS, FAMILY.evaluate, operator, [x, axis], dynamic=dynamic)


@pytest.mark.parametrize("operator", ["cummax", "cummin"])
def test_what_is_no_number_stays(operator: str) -> None:
    x = np.array([1, 3, np.nan, 5, np.nan, -np.inf, np.inf], np.float32)
    replaced(PASS, FAMILY.evaluate, operator, [x, 0])


def test_scalars_and_one_element() -> None:
    replaced(PASS, FAMILY.evaluate, "cummax", [np.float32(3), 0])
    replaced(PASS, FAMILY.evaluate, "cummax", [array_of(1), 0])
    replaced(PASS, FAMILY.evaluate, "cumprod", [array_of(0, 2), 0, None])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(2, 0), (0, 3)])
def test_nothing_is_walked_without_a_step(axis: int, shape: tuple[int, int]) -> None:
    done = replaced(PASS, FAMILY.evaluate, "cummax", [array_of(2, 3), axis], dynamic=True)
    found = outputs_of(done.after, {"x0": np.zeros(shape, np.float32)})
    assert [value.shape for value in found.values()] == [shape, shape]
