"""aten-matmul: products of matrices."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, run_pass
from passes.aten.aten_matmul import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-matmul"
A, B = array_of(2, 3, 4), array_of(4, 5, seed=6)
PAIRS = [
    ((2, 3, 4), (4, 5)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((2, 3, 4), (4,)),
    ((1, 3, 4), (6, 4, 2)),
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_products(left: tuple[int, ...], right: tuple[int, ...], dynamic: bool) -> None:
    a, b = array_of(*left), array_of(*right, seed=6)
    replaced(PASS, FAMILY.evaluate, "matmul", [a, b], fed=2, rtol=1e-5, atol=1e-6, dynamic=dynamic)
    whole = [(v * 9).astype(np.int64) for v in (a, b)]
    replaced(PASS, FAMILY.evaluate, "matmul", whole, fed=2, dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
def test_layers(dynamic: bool) -> None:
    how: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5, "dynamic": dynamic}
    weight, bias = array_of(5, 4), array_of(5)
    for x in (A, A[0, 0]):
        replaced(PASS, FAMILY.evaluate, "linear", [x, weight, bias], **how)
        replaced(PASS, FAMILY.evaluate, "linear", [x, weight, None], fed=2, **how)
        replaced(PASS, FAMILY.evaluate, "linear", [x, weight[0], None], fed=2, **how)
    cube = array_of(6, 4, 3)
    replaced(
        PASS, FAMILY.evaluate, "bilinear", [A, array_of(2, 3, 3), cube, array_of(6)], fed=3, **how
    )


@pytest.mark.parametrize("dynamic", [False, True])
def test_several(dynamic: bool) -> None:
    how: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5, "dynamic": dynamic}
    replaced(PASS, FAMILY.evaluate, "linalg_multi_dot", [[A[0, 0], B, array_of(5, 2)]], **how)
    equation = np.array("bij, jk -> bik", object)
    replaced(PASS, FAMILY.evaluate, "einsum", [equation, [A, B], None], fed=0, **how)


def test_axes_of_both() -> None:
    other = array_of(4, 7, 3)
    replaced(
        PASS, FAMILY.evaluate, "tensordot", [A, other, [1, -1], [2, 0]], fed=2, rtol=1e-5, atol=1e-5
    )
    model, _ = called("tensordot", [A, other, [2], [0]], [A], fed=2, dynamic=True)
    assert_refused(PASS, model, "the sizes of x0 and x1 must be known and not 0")


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("matmul", [4, 4], [np.eye(4, dtype=np.float32)])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


def test_refusals() -> None:
    model, _ = called("matmul", [A, B.astype(np.int64)], [A], fed=2)
    assert_refused(PASS, model, "the types must be one; they are float32 and int64")
    model, _ = called("linalg_multi_dot", [[A, B]], [A], opset=11)
    assert run_pass(PASS, model).ops.count("MatMul") == 1
    model, _ = called("einsum", [np.array("ij->ji", object), [B], None], [B], opset=11)
    assert_refused(PASS, model, "the opset must be at least 12, which has Einsum; it is 11")
