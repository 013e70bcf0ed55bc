"""aten-nonzero: as many elements as there are that count."""

import numpy as np
import pytest

from graphfix.testing import outputs_of
from passes.aten.aten_nonzero import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-nonzero"
X = np.round(array_of(3, 4))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("operator", ["nonzero", "argwhere"])
def test_places(operator: str, dynamic: bool) -> None:
    for x in (X, X[0].copy(), X.astype(np.int64), X > 0):
        replaced(PASS, FAMILY.evaluate, operator, [x], dynamic=dynamic)


@pytest.mark.parametrize("number", [0.0, 2.5])
def test_a_number_without_axes(number: float) -> None:
    x = np.array(number, np.float32)
    done = replaced(PASS, FAMILY.evaluate, "nonzero", [x])
    assert outputs_of(done.after, {"x0": x})["y0"].shape == (int(number > 0), 0)
    for count in (0, 2):
        replaced(PASS, FAMILY.evaluate, "nonzero_static", [x, count, -1])


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("count", [0, 3, 40])
def test_as_many_places_as_are_asked_for(count: int, dynamic: bool) -> None:
    for x in (X, X[0].copy(), X > 0):
        replaced(PASS, FAMILY.evaluate, "nonzero_static", [x, count, -7], dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
def test_what_a_mask_leaves(dynamic: bool) -> None:
    for x, mask in ((X, X > 0), (X, X[0] > 0), (X[0].copy(), X > 0)):
        replaced(PASS, FAMILY.evaluate, "masked_select", [x, mask], fed=2, dynamic=dynamic)


@pytest.mark.parametrize("flags", [(True, True), (True, False), (False, True)])
def test_runs(flags: tuple[bool, bool]) -> None:
    for x in (X, np.array([1, 1, 2, 2, 2, 1]), np.array(3.0, np.float32)):
        replaced(PASS, FAMILY.evaluate, "unique_consecutive", [x, *flags, None])
