"""aten-median: the lower middle, NaN, the most common number, and the places."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import APPROXIMATE
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_median import FAMILY
from tests.passes.aten_models import array_of, called, replaced

PASS = "aten-median"
NAN = np.array([[3, np.nan, 1, 2], [np.nan] * 4, [5, 4, 7, 6], [1, 1, 2, np.nan]], np.float32)


@pytest.mark.parametrize("operator", ["median", "nanmedian"])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("opset", [11, 17, 18])
def test_the_lower_middle(operator: str, dynamic: bool, opset: int) -> None:
    how: dict[str, Any] = {"dynamic": dynamic, "opset": opset}
    replaced(PASS, FAMILY.evaluate, operator, [array_of(3, 4)], **how)
    replaced(PASS, FAMILY.evaluate, operator, [array_of(3, 5)], **how)
    for keep in (False, True):
        x = array_of(3, 4)
        replaced(
            PASS, FAMILY.evaluate, operator, [x, -1, keep], overload="dim", accuracy=APPROXIMATE,
            **how,
        )  # fmt: skip


@pytest.mark.parametrize("operator", ["median", "nanmedian"])
def test_what_is_no_number(operator: str) -> None:
    replaced(PASS, FAMILY.evaluate, operator, [NAN])
    replaced(PASS, FAMILY.evaluate, operator, [NAN, 1, False], overload="dim", used=1)


def test_integers() -> None:
    limits = np.iinfo(np.int64)
    x = np.array([[limits.max, limits.min, 3, -5], [7, 7, 7, 2]])
    replaced(PASS, FAMILY.evaluate, "median", [x])
    replaced(PASS, FAMILY.evaluate, "median", [x, 0, True], overload="dim", used=1)
    replaced(PASS, FAMILY.evaluate, "mode", [x, 1, False], used=1)


@pytest.mark.parametrize("keep", [False, True])
def test_the_most_common_number_is_the_least_of_several(keep: bool) -> None:
    x = np.array([[2, 1, 2, 1, 5], [9, 8, 9, 9, 8], [3, 2, 1, 0, 4]], np.float32)
    replaced(PASS, FAMILY.evaluate, "mode", [x, -1, keep], used=1)
    model, feed = called("mode", [x, -1, keep], FAMILY.evaluate(
        [x, np.array(-1), np.array(keep)], {"operator": "mode"}))  # fmt: skip
    done = run_pass(PASS, model)
    places = outputs_of(done.after, feed)["y1"].ravel()
    assert places.tolist() == [3, 3, 3]


def test_scalars() -> None:
    replaced(PASS, FAMILY.evaluate, "median", [np.float32(3)])
