from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto

from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_logcumsumexp import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-logcumsumexp"
CLOSE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6}


def model_of(shape: list[int | str] | None, axis: int = -1, **other: Any) -> ModelProto:
    return aten_model("logcumsumexp", shape, [np.array(axis)], **other)


def scanned(x: Array, axis: int = -1) -> Array:
    """Add one after the other in float64."""
    lines = np.moveaxis(x.astype(np.float64), axis, 0)
    sums = [lines[0]]
    for line in lines[1:]:
        sums.append(np.logaddexp(sums[-1], line))
    return np.ascontiguousarray(np.moveaxis(np.stack(sums), 0, axis)).astype(x.dtype)


@pytest.mark.parametrize("opset", [7, 8, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 5) * 5
    model = model_of([2, 5], layout=layout, opset=opset)
    done = becomes(PASS, model, {"x": x}, scanned(x), **CLOSE)
    assert done.ops.count("Exp") == 3


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axes(axis: int) -> None:
    x = array_of(4, 3, 7)
    becomes(PASS, model_of([4, 3, 7], axis), {"x": x}, scanned(x, axis), **CLOSE)


def test_small_terms_next_to_nothing_are_kept() -> None:
    x = np.array([0, -20, -25], dtype=np.float32)
    after = run_pass(PASS, model_of([3])).after
    y = outputs_of(after, {"x": x})["y"]
    np.testing.assert_allclose(y[1:], [2.0611537e-9, 2.0750415e-9], rtol=1e-6)


def test_long_axes_lose_nothing() -> None:
    x = array_of(1, 3000)
    done = becomes(PASS, model_of([1, 3000]), {"x": x}, scanned(x), rtol=1e-5, atol=1e-6)
    assert done.ops.count("Exp") == 12


def test_other_axes_may_be_dynamic() -> None:
    x = array_of(2, 5)
    becomes(PASS, model_of(["N", 5]), {"x": x}, scanned(x), **CLOSE)
    assert_refused(PASS, model_of(["N", 5], 0), "size of axis 0")


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.logcumsumexp"): evaluate}
    model = model_of([3, 5], 0)
    feed = {"x": array_of(3, 5)}
    assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    x = array_of(2, 3)
    done = run_pass(PASS, in_branch(model_of([2, 3])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, scanned(x), **CLOSE)


@given(
    size=st.integers(1, 17),
    spread=st.sampled_from([0.1, 1.0, 30.0, 1e4]),
    opset=st.sampled_from([7, 11, 13, 18]),
    seed=st.integers(0, 99),
)
def test_any_line(size: int, spread: float, opset: int, seed: int) -> None:
    x = array_of(2, size, seed=seed) * np.float32(spread)
    model = model_of(["N", size], opset=opset)
    becomes(PASS, model, {"x": x}, scanned(x), rtol=1e-6, atol=2e-6)
