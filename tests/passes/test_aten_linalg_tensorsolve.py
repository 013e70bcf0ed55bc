"""aten-linalg-tensorsolve: systems of tensors."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_linalg_tensorsolve import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-tensorsolve"
CLOSE: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-4}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("shape", "first"), [((6, 3, 2), 1), ((2, 2, 3, 12, 1), 3), ((2, 2), 1)])
def test_inverses(shape: tuple[int, ...], first: int, dynamic: bool) -> None:
    x = array_of(*shape)
    done = replaced(PASS, FAMILY.evaluate, "linalg_tensorinv", [x, first], dynamic=dynamic, **CLOSE)
    found = outputs_of(done.after, {"x0": x})["y0"]
    size = int(np.prod(shape[:first]))
    whole = x.reshape(size, size) @ found.reshape(size, size)
    np.testing.assert_allclose(whole, np.eye(size), atol=1e-3)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("shape", "side", "axes"),
    [((2, 3, 6), (2, 3), None), ((2, 3, 6), (2, 3), [0, 2]), ((6, 2, 3), (2, 3), [0]),
     ((3, 3), (3,), None), ((4, 2, 2), (4,), None)],
)  # fmt: skip
def test_systems(
    shape: tuple[int, ...], side: tuple[int, ...], axes: list[int] | None, dynamic: bool
) -> None:
    arguments = [array_of(*shape), array_of(*side, seed=8), axes]
    how: dict[str, Any] = {"fed": 2, "dynamic": dynamic, **CLOSE}
    replaced(PASS, FAMILY.evaluate, "linalg_tensorsolve", arguments, **how)


def test_float64() -> None:
    x = array_of(6, 3, 2).astype(np.float64)
    replaced(PASS, FAMILY.evaluate, "linalg_tensorinv", [x, 1], rtol=1e-9, atol=1e-9)


def test_in_a_branch() -> None:
    model = in_branch(aten_model("linalg_tensorinv", [4, 2, 2], [np.array(1)]))
    assert sum(len(outcome.sites) for outcome in run_pass(PASS, model).outcomes) == 2
