from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import APPROXIMATE, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_linalg_cholesky import evaluate
from tests.passes.aten_models import LAYOUTS, Array, Output, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-cholesky"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}


def positive(*shape: int, dtype: Any = np.float32, seed: int = 5) -> Array:
    x = np.random.default_rng(seed).standard_normal(shape)
    return np.asarray(x @ x.swapaxes(-1, -2) + np.eye(shape[-1]), dtype=dtype)


def factor_of(x: Array, upper: bool = False) -> Array:
    factor = np.linalg.cholesky(x.astype(np.float64))
    result = factor.swapaxes(-1, -2) if upper else factor
    return np.ascontiguousarray(result).astype(x.dtype)


def model_of(shape: list[int | str] | None, upper: bool = False, **other: Any) -> ModelProto:
    return aten_model("linalg_cholesky", shape, [np.array(upper)], **other)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = positive(2, 4, 4)
    for upper in (False, True):
        model = model_of([2, 4, 4], upper, layout=layout, opset=opset)
        becomes(PASS, model, {"x": x}, factor_of(x, upper), **CLOSE)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("front", [(), (2,), (2, 3)])
def test_sizes_and_dynamic_stacks(size: int, front: tuple[int, ...]) -> None:
    x = positive(*front, size, size)
    shape: list[int | str] = [*"BC"[: len(front)], size, size]
    done = becomes(PASS, model_of(shape), {"x": x}, factor_of(x), **CLOSE)
    assert len(done.ops) <= 10 * size + 2


def test_as_accurate_as_the_condition_allows() -> None:
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.standard_normal((50, 5, 5)))[0]
    x = (turn * np.logspace(0, -3, 5) @ turn.swapaxes(-1, -2)).astype(np.float32)
    y = outputs_of(run_pass(PASS, model_of(["B", 5, 5])).after, {"x": x})["y"].astype(np.float64)
    assert np.abs(y @ y.swapaxes(-1, -2) - x).max() < 5e-7


def test_what_is_not_positive_definite_is_not_finite_and_harms_no_other() -> None:
    x = np.stack([positive(3, 3), -np.eye(3, dtype=np.float32), positive(3, 3, seed=6)])
    y = outputs_of(run_pass(PASS, model_of(["B", 3, 3])).after, {"x": x})["y"]
    np.testing.assert_allclose(y[[0, 2]], factor_of(x[[0, 2]]), **CLOSE)
    assert np.isnan(y[1]).any()


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.linalg_cholesky"): evaluate}
    for upper in (False, True):
        model = model_of([2, 3, 3], upper)
        feed = {"x": positive(2, 3, 3)}
        assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators, **CLOSE)


def test_numpy_model_raises_like_pytorch() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        evaluate([-np.eye(2, dtype=np.float32)], {})


def test_in_a_branch() -> None:
    x = positive(2, 2)
    done = run_pass(PASS, in_branch(model_of([2, 2])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, factor_of(x), **CLOSE)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(
    ("given", "shape"),
    [(["N", "N"], (5, 5)), ([2, 17, 17], (2, 17, 17)), (["B", "N", "N"], (3, 1, 1)),
     ([0, 0], (0, 0)), (["N", "N"], (0, 0))],
)  # fmt: skip
def test_large_and_open_sizes(given: list[Any], shape: tuple[int, ...], upper: bool) -> None:
    x = positive(*shape)
    becomes(PASS, model_of(given, upper), {"x": x}, factor_of(x, upper), **CLOSE)


def test_a_loop_reads_one_triangle_and_harms_no_other() -> None:
    x = np.stack([positive(4, 4), -np.eye(4, dtype=np.float32), positive(4, 4, seed=6)])
    expected = factor_of(x[[0, 2]])
    x[:, *np.triu_indices(4, 1)] = np.nan
    y = outputs_of(run_pass(PASS, model_of(["B", "N", "N"])).after, {"x": x})["y"]
    np.testing.assert_allclose(y[[0, 2]], expected, **CLOSE)
    assert np.isnan(y[1]).any()


@pytest.mark.parametrize("given", [[3, 3, 3], ["B", "N", "N"]])
@pytest.mark.parametrize("upper", [False, True])
def test_the_first_pivot_that_is_not_positive_is_reported(given: list[Any], upper: bool) -> None:
    x = np.stack([positive(3, 3), -np.eye(3, dtype=np.float32), np.zeros((3, 3), np.float32)])
    x[2] = [[4, 2, 2], [2, 1, 1], [2, 1, 5]]  # the second one is 0
    outputs: dict[str, Output] = {"y": (None, None), "info": (TensorProto.INT32, 1)}
    arguments = [np.array(upper), np.array(False)]
    model = aten_model("linalg_cholesky_ex", given, arguments, outputs=outputs, used=2)
    done = run_pass(PASS, model)
    (site,) = [site for outcome in done.outcomes for site in outcome.sites]
    assert site.accuracy == APPROXIMATE
    given_back = outputs_of(done.after, {"x": x})
    assert given_back["info"].tolist() == [0, 1, 2]
    np.testing.assert_allclose(given_back["y"][0], factor_of(x[0], upper), **CLOSE)


@given(
    size=st.integers(1, 6),
    upper=st.booleans(),
    opset=st.sampled_from([7, 11, 13, 18]),
    seed=st.integers(0, 99),
)
def test_any_matrix(size: int, upper: bool, opset: int, seed: int) -> None:
    x = positive(2, size, size, seed=seed)
    model = model_of(["B", size, size], upper, opset=opset)
    becomes(PASS, model, {"x": x}, factor_of(x, upper), **CLOSE)
