"""aten-to: casts, and tensors of one number."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_untouched, outputs_of, run_pass
from passes.aten.aten_to import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-to"
X = array_of(2, 3) * 3
CASTS: list[tuple[str, str, list[Any]]] = [
    ("to", "dtype", [4, 0, 0, None]),
    ("to", "device", [None, 7, 0, 1, None]),
    ("to", "dtype_layout", [11, None, None, 0, 0, 0, None]),
    ("_to_copy", "", [5, None, None, None, 0, None]),
    ("_cast_Int", "", [0]),
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("operator", "overload", "arguments"), CASTS)
def test_casts(operator: str, overload: str, arguments: list[Any], dynamic: bool) -> None:
    how: dict[str, Any] = {"overload": overload, "dynamic": dynamic}
    for x in (X, X.astype(np.int64), X > 0):
        replaced(PASS, FAMILY.evaluate, operator, [x, *arguments], **how)


def test_the_type_of_another_tensor() -> None:
    other = np.zeros(3, np.int32)
    done = replaced(PASS, FAMILY.evaluate, "type_as", [X, other], fed=2)
    given = outputs_of(done.after, {"x0": X, "x1": other})["y0"]
    np.testing.assert_array_equal(given, np.trunc(X).astype(np.int32))


@pytest.mark.parametrize("dynamic", [False, True])
def test_tensors_of_one_number(dynamic: bool) -> None:
    rest = [None, None, None]
    calls: list[tuple[str, list[Any]]] = [
        ("full_like", [2.5, None, *rest, None]),
        ("full_like", [2, 4, *rest, None]),
        ("zeros_like", [None, *rest, None]),
        ("ones_like", [11, *rest, None]),
        ("new_full", [[4, 1], 7, None, *rest]),
        ("new_zeros", [[2], 6, *rest]),
        ("new_ones", [[], None, *rest]),
    ]
    for operator, arguments in calls:
        for x in (X, X.astype(np.int64)):
            replaced(PASS, FAMILY.evaluate, operator, [x, *arguments], dynamic=dynamic)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("ones_like", [4])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


def test_refusals() -> None:
    model, _ = called("to", [X, 15, 0, 0, None], [X], overload="dtype")
    assert_refused(PASS, model, "dtype must be one that numpy has; it is 15")
    model, _ = called("full", [[2, 3], 1.5, None], [X], fed=0)
    assert_refused(PASS, model, "the dtype must be given")


def test_other_operators_are_left_alone() -> None:
    assert_untouched(PASS, aten_model("rot90", [3, 3]))
