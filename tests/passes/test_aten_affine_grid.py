from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_affine_grid import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-affine-grid"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}


def model_of(
    theta: list[int | str] | None, size: list[int], aligned: bool = False, **other: Any
) -> ModelProto:
    arguments = [np.array(size), np.array(aligned)]
    outputs = {"y": (None, len(size))}
    return aten_model("affine_grid_generator", theta, arguments, outputs=outputs, **other)


def line(size: int, aligned: bool) -> list[float]:
    """Return the coordinates of one axis as PyTorch documents them."""
    if aligned:
        return [-1 + 2 * i / (size - 1) if size > 1 else 0.0 for i in range(size)]
    return [(2 * i + 1) / size - 1 for i in range(size)]


def moved(theta: Array, size: list[int], aligned: bool) -> Array:
    """Move every place by itself."""
    spatial = size[2:]
    y = np.empty((size[0], *spatial, len(spatial)), dtype=np.float64)
    for place in np.ndindex(*spatial):
        at = [line(n, aligned)[int(place[k])] for k, n in enumerate(spatial)][::-1]
        y[(slice(None), *place)] = theta.astype(np.float64) @ np.array([*at, 1.0])
    return y.astype(theta.dtype)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    theta, size = array_of(2, 2, 3), [2, 3, 4, 5]
    for aligned in (False, True):
        model = model_of([2, 2, 3], size, aligned, layout=layout, opset=opset)
        ops = ["Transpose", "MatMul", "Reshape"]
        becomes(PASS, model, {"x": theta}, moved(theta, size, aligned), ops=ops, **CLOSE)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("size", [[2, 1, 2, 3, 4], [2, 1, 1, 1, 3], [2, 1, 1, 4, 1]])
def test_volumes(size: list[int], aligned: bool) -> None:
    theta = array_of(2, 3, 4)
    becomes(
        PASS, model_of([2, 3, 4], size, aligned), {"x": theta}, moved(theta, size, aligned), **CLOSE
    )


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.affine_grid_generator"): evaluate}
    for aligned in (False, True):
        model = model_of([2, 2, 3], [2, 3, 4, 5], aligned)
        feed = {"x": array_of(2, 2, 3)}
        assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    theta = array_of(1, 2, 3)
    done = run_pass(PASS, in_branch(model_of([1, 2, 3], [1, 1, 2, 2])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": theta, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, moved(theta, [1, 1, 2, 2], False), **CLOSE)


@given(
    sizes=st.lists(st.integers(1, 4), min_size=2, max_size=3),
    batch=st.integers(1, 2),
    aligned=st.booleans(),
    opset=st.sampled_from([7, 11, 13, 18]),
)
def test_any_grid(sizes: list[int], batch: int, aligned: bool, opset: int) -> None:
    axes, size = len(sizes), [batch, 1, *sizes]
    theta = array_of(batch, axes, axes + 1)
    model = model_of([batch, axes, axes + 1], size, aligned, opset=opset)
    becomes(PASS, model, {"x": theta}, moved(theta, size, aligned), **CLOSE)
