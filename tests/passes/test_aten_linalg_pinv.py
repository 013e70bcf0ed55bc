"""aten-linalg-pinv: the pseudo-inverse by iteration, against numpy's."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.report import Accuracy, Status
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_linalg_pinv import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-pinv"


def conditioned(rows: int, columns: int, ratio: float, rank: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    u, _, v = np.linalg.svd(rng.standard_normal((rows, columns)), full_matrices=False)
    values = np.zeros(min(rows, columns))
    values[:rank] = np.geomspace(1, 1 / ratio, rank) if rank > 1 else 1
    matrix: Array = ((u * values) @ v).astype(np.float32)
    return matrix


def check(x: Array, tolerance: float = 1e-3, **model: Any) -> None:
    done = run_pass(PASS, aten_model("linalg_pinv", list(x.shape), [None, None, None], **model))
    (applied,) = done.with_status(Status.APPLIED)
    assert {site.accuracy for site in applied.sites} == {Accuracy.APPROXIMATE}
    assert all("singular value" in site.note for site in applied.sites)
    wanted = np.linalg.pinv(x.astype(np.float64), rcond=1e-5)
    y = outputs_of(done.after, {"x": x})["y"]
    np.testing.assert_allclose(y, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("opset", [9, 11, 13, 18])
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    check(array_of(2, 4, 4), opset=opset, layout=layout)


@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (1, 4)])
@pytest.mark.parametrize("ratio", [1.0, 30.0, 900.0])
def test_shapes_and_conditions(shape: tuple[int, int], ratio: float) -> None:
    check(conditioned(*shape, ratio, min(shape)))


@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5)])
def test_open_sizes(shape: tuple[int, int]) -> None:
    x = conditioned(*shape, 30, min(shape))
    y = outputs_of(run_pass(PASS, aten_model("linalg_pinv", ["M", "N"])).after, {"x": x})["y"]
    np.testing.assert_allclose(y, np.linalg.pinv(x), rtol=0, atol=1e-3 * np.abs(y).max())


def test_nothing_is_turned() -> None:
    x = np.zeros((0, 3), np.float32)
    y = outputs_of(run_pass(PASS, aten_model("linalg_pinv", [0, 3])).after, {"x": x})["y"]
    assert y.shape == (3, 0)


def test_a_matrix_of_zeros_and_extreme_sizes() -> None:
    check(conditioned(3, 4, 1, 0))
    check(conditioned(3, 3, 10, 3) * np.float32(1e15))
    check(conditioned(3, 3, 10, 3) * np.float32(1e-12))


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.floats(1, 500), st.integers(0, 99))
def test_any_matrix_of_full_rank(rows: int, columns: int, ratio: float, seed: int) -> None:
    check(conditioned(rows, columns, ratio, min(rows, columns), seed))


def test_the_numpy_model() -> None:
    x = array_of(2, 4, 3)
    (y,) = evaluate([x, None, None, None], {})
    np.testing.assert_allclose(y, np.linalg.pinv(x), rtol=1e-4, atol=1e-5)


def test_in_a_branch() -> None:
    x = array_of(3, 3)
    model = in_branch(aten_model("linalg_pinv", [3, 3], [None, None, None]))
    done = run_pass(PASS, model)
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, np.linalg.pinv(x), rtol=1e-3, atol=1e-4)
