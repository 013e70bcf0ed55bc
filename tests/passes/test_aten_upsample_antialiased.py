"""aten-upsample-antialiased: filters as products."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_upsample_antialiased import NAMES, evaluate
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-upsample-antialiased"
NEAR: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
X = array_of(2, 3, 10, 20)


@pytest.mark.parametrize("size", [(3, 3), (5, 20), (15, 7), (1, 1), (10, 20), (23, 41)])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_sizes(name: str, align: bool, size: tuple[int, int]) -> None:
    replaced(PASS, evaluate, name, [X, [*size], align, None], overload="vec", **NEAR)
    replaced(PASS, evaluate, name, [X, [*size], align, None, None], **NEAR)


@pytest.mark.parametrize("factors", [(0.5, 0.25), (0.3, 1.5), (2.0, 3.0)])
@pytest.mark.parametrize("name", NAMES)
def test_factors(name: str, factors: tuple[float, float]) -> None:
    replaced(PASS, evaluate, name, [X, None, False, [*factors]], overload="vec", **NEAR)


@pytest.mark.parametrize("opset", [9, 13, 18])
def test_a_mean_of_what_is_halved(opset: int) -> None:
    x = np.array([[[[1, 1, 5, 5, 9, 9]]]], np.float32).repeat(6, axis=2)
    model, _ = called("_upsample_bilinear2d_aa", [x, [6, 3], False, None, None], [x], opset=opset)
    y = outputs_of(run_pass(PASS, model).after, {"x0": x})["y0"]
    # Weights 1, 3, 3 and 1 of eight, of the pixels that are there.
    np.testing.assert_allclose(y[0, 0, 2], [11 / 7, 5, 59 / 7], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_other_types(dtype: Any) -> None:
    x = X.astype(dtype)
    model, _ = called("_upsample_bicubic2d_aa", [x, [4, 9], False, None, None], [x])
    y = outputs_of(run_pass(PASS, model).after, {"x0": x})["y0"]
    names = {"operator": "_upsample_bicubic2d_aa"}
    wanted = evaluate([x.astype(np.float64), np.array([4, 9]), np.array(0)], names)[0]
    assert y.dtype == dtype
    np.testing.assert_allclose(y, wanted, rtol=0, atol=1e-12 if dtype == np.float64 else 2e-3)


def test_in_a_branch() -> None:
    model = aten_model("_upsample_bilinear2d_aa", [1, 1, 4, 4], [np.array([2, 2]), np.array(0)])
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
