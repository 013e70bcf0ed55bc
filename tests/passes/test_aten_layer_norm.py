import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_layer_norm import evaluate
from tests.passes.aten_models import LAYOUTS, Array, Output, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-layer-norm"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}
EPS = np.array(1e-5)


def normal(
    x: Array, count: int, weight: Array | None, bias: Array | None, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    """Normalise line by line."""
    kept = x.shape[: x.ndim - count]
    lines = x.astype(np.float64).reshape(math.prod(kept), -1)
    means = np.array([line.mean() for line in lines])
    rates = np.array([1 / np.sqrt(line.var() + eps) for line in lines])
    result = ((lines - means[:, None]) * rates[:, None]).reshape(x.shape)
    result = result * (1 if weight is None else weight) + (0 if bias is None else bias)
    shape = (*kept, *(1,) * count)
    return (
        result.astype(x.dtype),
        means.reshape(shape).astype(x.dtype),
        rates.reshape(shape).astype(x.dtype),
    )


def ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


def native_model(shape: list[int | str], *, used: int = 3, **rest: Any) -> ModelProto:
    outputs: dict[str, Output] = {"y": (None, None), "mean": (None, None), "rstd": (None, None)}
    arguments = [ints(5, 8), array_of(5, 8, seed=1), array_of(5, 8, seed=2), EPS]
    return aten_model("native_layer_norm", shape, arguments, outputs=outputs, used=used, **rest)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x, weight, bias = array_of(2, 5, 8), array_of(8, seed=1), array_of(8, seed=2)
    wanted = normal(x, 1, weight, bias)[0]
    arguments = [ints(8), weight, bias, EPS, np.array(True)]
    model = aten_model("layer_norm", ["B", 5, 8], arguments, layout=layout, opset=opset)
    becomes(PASS, model, {"x": x}, wanted, **CLOSE)
    if layout in ("default", "aten"):
        attributes = {"normalized_shape": [8], "eps": 1e-5, "cudnn_enable": 1}
        model = aten_model(
            "layer_norm",
            ["B", 5, 8],
            [weight, bias],
            layout=layout,
            opset=opset,
            attributes=attributes,
        )
        becomes(PASS, model, {"x": x}, wanted, **CLOSE)


@pytest.mark.parametrize("given_weight", [True, False])
@pytest.mark.parametrize("given_bias", [True, False])
def test_absent_weight_and_bias(given_weight: bool, given_bias: bool) -> None:
    x = array_of(3, 4, 5)
    weight = array_of(4, 5, seed=1) if given_weight else None
    bias = array_of(4, 5, seed=2) if given_bias else None
    model = aten_model("layer_norm", [3, 4, 5], [ints(4, 5), weight, bias, np.array(0.1)])
    becomes(PASS, model, {"x": x}, normal(x, 2, weight, bias, 0.1)[0], **CLOSE)


@pytest.mark.parametrize("opset", [9, 13, 18])
@pytest.mark.parametrize("used", [1, 2, 3])
@pytest.mark.parametrize("shape", [[3, 5, 8], ["B", 5, 8], ["B", "C", "D"]])
def test_native_with_statistics(opset: int, used: int, shape: list[int | str]) -> None:
    x = array_of(3, 5, 8)
    wanted = normal(x, 2, array_of(5, 8, seed=1), array_of(5, 8, seed=2))
    becomes(PASS, native_model(shape, opset=opset, used=used), {"x": x}, wanted[:used], **CLOSE)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.native_layer_norm"): evaluate}
    feed = {"x": array_of(3, 5, 8)}
    assert_rewrite(PASS, native_model([3, 5, 8]), feeds=[feed], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    x = array_of(2, 8)
    done = run_pass(PASS, in_branch(aten_model("layer_norm", [2, 8], [ints(8)])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, normal(x, 1, None, None)[0], **CLOSE)


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    data=st.data(),
    opset=st.sampled_from([7, 9, 13, 18]),
)
def test_any_shape(shape: list[int], data: st.DataObject, opset: int) -> None:
    count = data.draw(st.integers(1, len(shape)))
    x, weight = array_of(*shape), array_of(*shape[len(shape) - count :], seed=1)
    arguments = [ints(*weight.shape), weight, None, np.array(1e-2)]
    model = aten_model("layer_norm", shape, arguments, opset=opset)
    becomes(PASS, model, {"x": x}, normal(x, count, weight, None, 1e-2)[0], **CLOSE)
