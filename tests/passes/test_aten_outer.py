"""aten-outer: products of vectors and matrices, crossed, repeated and measured."""

from typing import Any

import numpy as np
import pytest

from passes.aten.aten_outer import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-outer"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6, "fed": 2}
SHAPES: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [
    ("outer", (2,), (3,)), ("ger", (2,), (3,)), ("mm", (2, 3), (3, 4)), ("dot", (5,), (5,)),
    ("bmm", (2, 3, 4), (2, 4, 5)), ("mv", (2, 3), (3,)), ("vdot", (5,), (5,)),
    ("inner", (2, 3), (4, 3)), ("inner", (2, 3), (3,)), ("inner", (), (2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("operator", "one", "other"), SHAPES)
def test_products(
    operator: str, one: tuple[int, ...], other: tuple[int, ...], dynamic: bool
) -> None:
    for dtype in (np.float32, np.int64):
        a, b = ((array_of(*s, seed=k) * 9).astype(dtype) for k, s in ((1, one), (2, other)))
        replaced(PASS, FAMILY.evaluate, operator, [a, b], dynamic=dynamic, **CLOSE)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_crossed_and_repeated(dtype: Any) -> None:
    a, b = ((array_of(4, 3, seed=s) * 9).astype(dtype) for s in (1, 2))
    replaced(PASS, FAMILY.evaluate, "cross", [a, b, None], **CLOSE)
    replaced(PASS, FAMILY.evaluate, "cross", [a, b, -1], dynamic=True, **CLOSE)
    replaced(PASS, FAMILY.evaluate, "linalg_cross", [a.T.copy(), b.T.copy(), 0], **CLOSE)
    replaced(PASS, FAMILY.evaluate, "linalg_cross", [a, b[:1], -1], **CLOSE)
    replaced(PASS, FAMILY.evaluate, "kron", [a, b[0]], **CLOSE)
    replaced(PASS, FAMILY.evaluate, "kron", [b[0], a], **CLOSE)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, -3), (1, 0)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_products_that_are_added(alpha: int, beta: int, dynamic: bool) -> None:
    how: dict[str, Any] = {**CLOSE, "fed": 3, "dynamic": dynamic}
    m = array_of(2, 3)
    calls: list[tuple[str, list[Any]]] = [
        ("addmm", [array_of(4), m, array_of(3, 4)]),
        ("addmv", [array_of(2), m, array_of(3)]),
        ("addr", [m, array_of(2), array_of(3)]),
        ("baddbmm", [array_of(2, 2, 4), array_of(2, 2, 3), array_of(2, 3, 4)]),
        ("addbmm", [array_of(2, 4), array_of(2, 2, 3), array_of(2, 3, 4)]),
    ]
    for operator, given in calls:
        replaced(PASS, FAMILY.evaluate, operator, [*given, beta, alpha], **how)


@pytest.mark.parametrize("power", [0, 0.5, 1, 2, 3, np.inf])
@pytest.mark.parametrize("dynamic", [False, True])
def test_distances_of_near_points_keep_their_digits(power: float, dynamic: bool) -> None:
    a = array_of(2, 4, 3) + 1000
    b = (a[:, :3] + np.float32(0.25)).astype(np.float32)
    inputs = [a, b, float(power), None]
    replaced(PASS, FAMILY.evaluate, "cdist", inputs, dynamic=dynamic, fed=2, rtol=1e-4, atol=1e-5)
