"""aten-argsort: places and values, ties in their order, at the ends of the integers."""

import numpy as np
import pytest

from passes.aten.aten_argsort import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-argsort"
TIES = np.array([[2, 1, 1, 3, 2], [0, -1, 0, -1, 5]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("descending", [False, True])
def test_places_of_equal_numbers_stay_in_order(dtype: str, descending: bool) -> None:
    x = TIES.astype(dtype)
    for axis in (0, 1, -1):
        done = replaced(
            PASS, FAMILY.evaluate, "argsort", [x, True, axis, descending], overload="stable"
        )
        assert "TopK" in done.ops


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("opset", [11, 13, 17, 18])
def test_values_and_places(dynamic: bool, opset: int) -> None:
    x = array_of(3, 4)
    replaced(PASS, FAMILY.evaluate, "sort", [x, 0, True], dynamic=dynamic, opset=opset)
    replaced(PASS, FAMILY.evaluate, "argsort", [x, -1, False], dynamic=dynamic, opset=opset)
    replaced(PASS, FAMILY.evaluate, "msort", [x], dynamic=dynamic, opset=opset)


def test_scalars_and_empty_lines() -> None:
    replaced(PASS, FAMILY.evaluate, "sort", [np.float32(3), 0, False])
    replaced(PASS, FAMILY.evaluate, "argsort", [np.zeros((2, 0), np.float32), 1, False])
