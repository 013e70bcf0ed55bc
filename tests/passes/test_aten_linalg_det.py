from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_linalg_det import evaluate
from tests.passes.aten_models import LAYOUTS, Array, Output, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-det"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
Y: dict[str, Output] = {"y": (None, 1)}


def determinant(x: Array) -> Array:
    return np.asarray(np.linalg.det(x.astype(np.float64)), dtype=x.dtype)


@pytest.mark.parametrize("opset", [7, 8, 9, 11, 13, 17, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(3, 4, 4)
    for name in ("linalg_det", "det"):
        model = aten_model(name, [3, 4, 4], layout=layout, opset=opset, outputs=Y)
        becomes(PASS, model, {"x": x}, determinant(x), **CLOSE)


@pytest.mark.parametrize("size", range(1, 9))
def test_signs_of_permutations_are_exact(size: int) -> None:
    rng = np.random.default_rng(size)
    x = np.stack([np.eye(size, dtype=np.float32)[rng.permutation(size)] for _ in range(12)])
    model = aten_model("linalg_det", ["B", size, size], outputs=Y)
    becomes(PASS, model, {"x": x}, determinant(x).round())


@pytest.mark.parametrize("shape", [[3, 3], ["B", 3, 3], ["B", "C", 3, 3], [2, "C", 3, 3]])
@pytest.mark.parametrize("opset", [9, 13, 18])
def test_shapes(shape: list[int | str], opset: int) -> None:
    x = array_of(*(2, 2, 3, 3)[4 - len(shape) :])
    outputs: dict[str, Output] = {"y": (None, len(shape) - 2)}
    model = aten_model("linalg_det", shape, opset=opset, outputs=outputs)
    becomes(PASS, model, {"x": x}, determinant(x), **CLOSE)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.linalg_det"): evaluate}
    model = aten_model("linalg_det", [2, 3, 3], outputs=Y)
    feed = {"x": array_of(2, 3, 3)}
    assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    x = array_of(2, 3, 3)
    done = run_pass(PASS, in_branch(aten_model("linalg_det", [2, 3, 3], outputs=Y)))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, determinant(x), **CLOSE)


@given(
    size=st.integers(1, 5),
    batch=st.integers(1, 3),
    seed=st.integers(0, 1000),
    opset=st.sampled_from([7, 9, 11, 13, 18]),
)
def test_any_matrix(size: int, batch: int, seed: int, opset: int) -> None:
    x = array_of(batch, size, size, seed=seed)
    model = aten_model("linalg_det", ["B", size, size], opset=opset, outputs=Y)
    becomes(PASS, model, {"x": x}, determinant(x), rtol=1e-3, atol=1e-4)
