import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_rms_norm import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-rms-norm"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}
FLOAT32_EPS = 2.0**-23


def normal(x: Array, count: int, weight: Array | None, eps: float = FLOAT32_EPS) -> Array:
    """Normalise line by line."""
    lines = x.astype(np.float64).reshape(math.prod(x.shape[: x.ndim - count]), -1)
    result = np.array([line / np.sqrt(np.mean(line**2) + eps) for line in lines]).reshape(x.shape)
    return (result if weight is None else result * weight).astype(x.dtype)


def ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x, weight = array_of(2, 3, 6), array_of(6, seed=1)
    for given_weight, eps in ((weight, None), (None, 1e-2), (weight, 1e-2)):
        arguments = [ints(6), given_weight, None if eps is None else np.array(eps)]
        model = aten_model("rms_norm", ["B", 3, 6], arguments, layout=layout, opset=opset)
        wanted = normal(x, 1, given_weight, FLOAT32_EPS if eps is None else eps)
        becomes(PASS, model, {"x": x}, wanted, **CLOSE)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.rms_norm"): evaluate}
    model = aten_model("rms_norm", [4, 6], [ints(6), array_of(6, seed=1)])
    assert_rewrite(PASS, model, feeds=[{"x": array_of(4, 6)}], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    x = array_of(2, 8)
    done = run_pass(PASS, in_branch(aten_model("rms_norm", [2, 8], [ints(8)])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, normal(x, 1, None), **CLOSE)


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    data=st.data(),
    opset=st.sampled_from([7, 9, 13, 18]),
)
def test_any_shape(shape: list[int], data: st.DataObject, opset: int) -> None:
    count = data.draw(st.integers(1, len(shape)))
    x = array_of(*shape)
    arguments = [ints(*shape[len(shape) - count :]), None, np.array(1e-2)]
    model = aten_model("rms_norm", shape, arguments, opset=opset)
    becomes(PASS, model, {"x": x}, normal(x, count, None, 1e-2), **CLOSE)
