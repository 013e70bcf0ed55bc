"""aten-to: casts, and tensors of one element."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import run_pass
from passes.aten.aten_to import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
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


@pytest.mark.parametrize("dynamic", [False, True])
def test_tensors_of_one_element(dynamic: bool) -> None:
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
