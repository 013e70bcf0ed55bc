"""aten-linalg-matrix-norm: sums, and iterations for singular values."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import APPROXIMATE, EXACT
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_linalg_matrix_norm import FAMILY
from tests.passes.aten_models import Array, array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-matrix-norm"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
ORDERS = ["fro", "nuc", 1.0, -1.0, 2.0, np.inf, -np.inf]


def norm(x: Array, order: str | float, *, opset: int = 17, **how: Any) -> Array:
    """Return the norm that the pass computes, held to numpy and, where it is, to PyTorch."""
    singular = order in ("nuc", 2.0)
    arguments = [x, order, how.pop("axes", [-2, -1]), how.pop("keep", False), None]
    done = replaced(
        PASS, FAMILY.evaluate, "linalg_matrix_norm", arguments, opset=opset,
        overload="str_ord" if isinstance(order, str) else "",
        accuracy=APPROXIMATE if singular else EXACT, **CLOSE, **how,
    )  # fmt: skip
    found: Array = outputs_of(done.after, {"x0": x})["y0"]
    return found


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(5, 5), (3, 6), (2, 5, 3), (1, 1)])
def test_norms(shape: tuple[int, ...], order: str | float) -> None:
    x = array_of(*shape)
    norm(x, order)
    norm(x, order, dynamic=True)
    norm(x, order, keep=True)


@pytest.mark.parametrize("order", ORDERS)
def test_other_axes(order: str | float) -> None:
    x = array_of(3, 4, 2)
    norm(x, order, axes=[0, 1])
    norm(x, order, axes=[2, 0], keep=True)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("order", ["nuc", 2.0, "fro", 1.0])
def test_each_opset(order: str | float, opset: int) -> None:
    norm(array_of(3, 4), order, opset=opset)


@pytest.mark.parametrize("order", ["nuc", 2.0])
@pytest.mark.parametrize("scale", [0.0, 1e-12, 1.0, 1e12])
def test_of_any_condition(order: str | float, scale: float) -> None:
    rng = np.random.default_rng(2)
    left, right = (np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(2))
    for values in ([1, 1, 1, 1, 1, 1], [1, 1e-2, 1e-4, 1e-6, 1e-8, 0], [3, 3, 3, 2.999, 0, 0]):
        x = (left * (np.array(values) * scale) @ right).astype(np.float32)
        wanted = (sum(values) if order == "nuc" else max(values)) * scale
        np.testing.assert_allclose(norm(x, order), wanted, rtol=1e-4)


def test_in_a_branch() -> None:
    model = aten_model("linalg_matrix_norm", [3, 3], [np.array(1.0), np.array([0, 1])])
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
