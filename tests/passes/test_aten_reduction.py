"""aten-reduction: reductions in the type that PyTorch computes in."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_reduction import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-reduction"
X = array_of(2, 3, 4)
K = (X * 9).astype(np.int64)
SUMS: list[tuple[str, str, list[Any], str]] = [
    ("sum", "", [None], "fi"),
    ("sum", "dim_IntList", [[-1], 1, None], "fi"),
    ("sum", "dim_IntList", [[0, 2], 0, 7], "fi"),
    ("mean", "dim", [[1], 0, None], "f"),
    ("mean", "", [6], "fi"),
    ("prod", "dim_int", [1, 0, None], "fi"),
    ("prod", "", [None], "fi"),
    ("amax", "", [[0, -1], 1], "fi"),
    ("amin", "", [[], 0], "fi"),
    ("aminmax", "", [1, 1], "fi"),
    ("aminmax", "", [None, 0], "fi"),
    ("max", "", [], "fi"),
    ("max", "dim", [1, 0], "fi"),
    ("min", "dim", [-1, 1], "f"),
    ("argmax", "", [None, 0], "f"),
    ("argmax", "", [2, 1], "f"),
    ("argmin", "", [0, 0], "f"),
    ("all", "", [], "fi"),
    ("all", "dim", [1, 1], "fi"),
    ("any", "dims", [[0, 2], 0], "fi"),
    ("count_nonzero", "dim_IntList", [[0, 1]], "fi"),
    ("count_nonzero", "", [2], "fi"),
    ("nansum", "", [[1], 0, None], "fi"),
    ("nanmean", "", [[1], 1, None], "f"),
    ("var", "", [1], "f"),
    ("var", "dim", [[0], 0, 1], "f"),
    ("std", "correction", [[1, 2], 2, 1], "f"),
    ("var_mean", "correction", [None, 0, 0], "f"),
    ("std_mean", "dim", [[2], 1, 0], "f"),
    ("logsumexp", "", [[0, 1], 1], "fi"),
    ("norm", "Scalar", [2], "f"),
    ("norm", "ScalarOpt_dim", [3, [1], 0], "f"),
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("operator", "overload", "arguments", "kinds"), SUMS)
def test_reductions(
    operator: str, overload: str, arguments: list[Any], kinds: str, dynamic: bool
) -> None:
    how: dict[str, Any] = {"overload": overload, "dynamic": dynamic, "rtol": 2e-5, "atol": 1e-5}
    for kind, x in (("f", X), ("i", K)):
        if kind in kinds:
            replaced(PASS, FAMILY.evaluate, operator, [x, *arguments], **how)


@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 2.5, np.inf, -np.inf])
def test_norms(order: float) -> None:
    for dim, keep in (([1, 2], 0), (None, 1), ([0], 1)):
        arguments = [X, order, dim, keep, None]
        replaced(PASS, FAMILY.evaluate, "linalg_vector_norm", arguments, rtol=1e-5)


def test_sums_of_small_integers_and_booleans_are_of_64_bits() -> None:
    for x in (K.astype(np.int32), K > 0):
        done = replaced(PASS, FAMILY.evaluate, "sum", [x, [0], 0, None], overload="dim_IntList")
        assert outputs_of(done.after, {"x0": x})["y0"].dtype == np.int64


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_forms_of_axes_at_every_opset(opset: int) -> None:
    replaced(PASS, FAMILY.evaluate, "amax", [X, [0, 2], 0], opset=opset)
    replaced(PASS, FAMILY.evaluate, "sum", [X, [1], 1, None], opset=opset, rtol=1e-5,
             overload="dim_IntList")  # fmt: skip


def test_in_a_branch() -> None:
    model = aten_model("sum", [4], [None], outputs={"y": (None, 0)})
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


@pytest.mark.parametrize("sizes", [[], [1], [2, 1, 4], [1, 4], [1, 1, 1]])
@pytest.mark.parametrize("dynamic", [False, True])
def test_sums_to_a_size(sizes: list[int], dynamic: bool) -> None:
    x = array_of(2, 3, 4)
    for each in (x, (x * 9).astype(np.int64)):
        replaced(PASS, FAMILY.evaluate, "sum_to_size", [each, sizes], rtol=1e-5, atol=1e-5,
                 dynamic=dynamic)  # fmt: skip


@pytest.mark.parametrize(
    ("operator", "overload", "arguments"),
    [
        ("mean", "", [None]),
        ("mean", "dim", [[1], 1, None]),
        ("std_mean", "correction", [[1], 0, 0]),
    ],
)
def test_the_mean_of_nothing_is_no_number(
    operator: str, overload: str, arguments: list[Any]
) -> None:
    how: dict[str, Any] = {"overload": overload, "dynamic": True, "rtol": 1e-5}
    done = replaced(PASS, FAMILY.evaluate, operator, [array_of(2, 3), *arguments], **how)
    for found in outputs_of(done.after, {"x0": np.zeros((2, 0), np.float32)}).values():
        assert found.size
        assert np.isnan(found).all()
