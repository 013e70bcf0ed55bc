"""aten-nonzero: as many elements as there are that count."""

from __future__ import annotations

import numpy as np
import pytest

from graphfix.passes.aten.aten_nonzero import FAMILY
from graphfix.testing import assert_refused, assert_untouched, outputs_of
from tests.passes.aten_models import array_of, aten_model, called, replaced

PASS = "aten-nonzero"
X = np.round(array_of(3, 4))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("operator", ["nonzero", "argwhere"])
def test_places(operator: str, dynamic: bool) -> None:
    for x in (X, X[0].copy(), X.astype(np.int64), X > 0):
        replaced(PASS, FAMILY.evaluate, operator, [x], dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
def test_what_a_mask_leaves(dynamic: bool) -> None:
    for x, mask in ((X, X > 0), (X, X[0] > 0), (X[0].copy(), X > 0)):
        replaced(PASS, FAMILY.evaluate, "masked_select", [x, mask], fed=2, dynamic=dynamic)


@pytest.mark.parametrize("flags", [(True, True), (True, False), (False, True)])
def test_runs(flags: tuple[bool, bool]) -> None:
    for x in (X, np.array([1, 1, 2, 2, 2, 1]), np.array(3.0, np.float32)):
        replaced(PASS, FAMILY.evaluate, "unique_consecutive", [x, *flags, None])


def test_lengths_of_runs() -> None:
    x = np.array([4, 4, 7, 4, 4, 4])
    done = replaced(PASS, FAMILY.evaluate, "unique_consecutive", [x, True, True, None])
    found = outputs_of(done.after, {"x0": x})
    assert [found[f"y{at}"].tolist() for at in range(3)] == [
        [4, 7, 4],
        [0, 0, 1, 2, 2, 2],
        [2, 1, 3],
    ]


def test_refused() -> None:
    model, _ = called("unique_consecutive", [X, False, False, 0], [X])
    assert_refused(PASS, model, "all elements must be compared; those along an axis are")
    scalar = np.array(1.0, np.float32)
    model, _ = called("nonzero", [scalar], [np.zeros((1, 0), np.int64)])
    assert_refused(PASS, model, "the rank of x0 must be at least 1; it is 0")
    model, _ = called("masked_select", [X, X], [X[0]], fed=2)
    assert_refused(PASS, model, "x1 must be bool; it is float32")


def test_other_operators_are_left_alone() -> None:
    assert_untouched(PASS, aten_model("rot90", [3, 3]))
