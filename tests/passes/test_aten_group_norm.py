from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_group_norm import evaluate
from tests.passes.aten_models import LAYOUTS, Array, Output, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-group-norm"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}
EPS = np.array(1e-5)


def normal(
    x: Array, groups: int, weight: Array | None, bias: Array | None, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    """Normalise group by group."""
    result = np.empty(x.shape, dtype=np.float64)
    means, rates = np.empty((len(x), groups)), np.empty((len(x), groups))
    step = x.shape[1] // groups
    for n in range(len(x)):
        for g in range(groups):
            part = x[n, g * step : (g + 1) * step].astype(np.float64)
            means[n, g], rates[n, g] = part.mean(), 1 / np.sqrt(part.var() + eps)
            result[n, g * step : (g + 1) * step] = (part - means[n, g]) * rates[n, g]
    for c in range(x.shape[1]):
        result[:, c] *= 1 if weight is None else weight[c]
        result[:, c] += 0 if bias is None else bias[c]
    return result.astype(x.dtype), means.astype(x.dtype), rates.astype(x.dtype)


def native_model(shape: list[int | str], groups: int, *, used: int = 1, **rest: Any) -> ModelProto:
    outputs: dict[str, Output] = {"y": (None, None), "mean": (None, 2), "rstd": (None, 2)}
    sizes = [np.array(n) for n in (2, 8, 30, groups)]
    arguments = [array_of(8, seed=1), array_of(8, seed=2), *sizes, EPS]
    return aten_model("native_group_norm", shape, arguments, outputs=outputs, used=used, **rest)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x, weight, bias = array_of(2, 8, 5, 6), array_of(8, seed=1), array_of(8, seed=2)
    arguments = [np.array(4), weight, bias, EPS, np.array(True)]
    wanted = normal(x, 4, weight, bias)[0]
    model = aten_model("group_norm", [2, 8, 5, 6], arguments, layout=layout, opset=opset)
    becomes(PASS, model, {"x": x}, wanted, **CLOSE)
    if layout in ("default", "aten"):
        attributes = {"num_groups": 4, "eps": 1e-5, "cudnn_enabled": 1}
        model = aten_model(
            "group_norm",
            [2, 8, 5, 6],
            [weight, bias],
            layout=layout,
            opset=opset,
            attributes=attributes,
        )
        becomes(PASS, model, {"x": x}, wanted, **CLOSE)


@pytest.mark.parametrize("given_weight", [True, False])
@pytest.mark.parametrize("given_bias", [True, False])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_absent_weight_and_bias(given_weight: bool, given_bias: bool, eps: float) -> None:
    x = array_of(2, 6, 4)
    weight = array_of(6, seed=1) if given_weight else None
    bias = array_of(6, seed=2) if given_bias else None
    model = aten_model("group_norm", [2, 6, 4], [np.array(3), weight, bias, np.array(eps)])
    becomes(PASS, model, {"x": x}, normal(x, 3, weight, bias, eps)[0], **CLOSE)


@pytest.mark.parametrize("opset", [9, 13, 18])
@pytest.mark.parametrize("used", [1, 3])
def test_native_with_statistics(opset: int, used: int) -> None:
    x = array_of(2, 8, 5, 6)
    wanted = normal(x, 4, array_of(8, seed=1), array_of(8, seed=2))
    model = native_model([2, 8, 5, 6], 4, opset=opset, used=used)
    becomes(PASS, model, {"x": x}, wanted[:used], **CLOSE)


@pytest.mark.parametrize("opset", [9, 13, 18])
@pytest.mark.parametrize(
    "shape", [["N", 8, 5, 6], ["N", 8, "H", 6], ["N", 8, "H", "W"], ["N", "C", "H", "W"]]
)
def test_dynamic_shapes(opset: int, shape: list[int | str]) -> None:
    x, weight = array_of(2, 8, 5, 6), array_of(8, seed=1)
    model = aten_model("group_norm", shape, [np.array(2), weight, None, EPS], opset=opset)
    becomes(PASS, model, {"x": x}, normal(x, 2, weight, None)[0], **CLOSE)
    becomes(
        PASS,
        native_model(shape, 4, opset=opset, used=3),
        {"x": x},
        normal(x, 4, weight, array_of(8, seed=2)),
        **CLOSE,
    )


@pytest.mark.parametrize("rank", [2, 3, 5])
def test_other_ranks(rank: int) -> None:
    shape = (2, 6, 3, 2, 2)[:rank]
    x, weight = array_of(*shape), array_of(6, seed=1)
    model = aten_model("group_norm", shape, [np.array(2), weight, None, EPS])
    becomes(PASS, model, {"x": x}, normal(x, 2, weight, None)[0], **CLOSE)


@pytest.mark.parametrize(
    ("kind", "dtype", "tolerance"),
    [(TensorProto.DOUBLE, np.float64, 1e-12), (TensorProto.FLOAT16, np.float16, 4e-3)],
)
def test_other_types(kind: int, dtype: Any, tolerance: float) -> None:
    # In float16 the squares of these would overflow.
    x = array_of(2, 4, 5, dtype=dtype) * dtype(300)
    weight = array_of(4, dtype=dtype, seed=1)
    model = aten_model("group_norm", [2, 4, 5], [np.array(2), weight, None, EPS], dtype=kind)
    wanted = normal(x, 2, weight, None)[0]
    becomes(PASS, model, {"x": x}, wanted, rtol=tolerance, atol=tolerance)


def test_against_the_numpy_model() -> None:
    evaluators = {
        ("org.pytorch.aten", f"ATen.{name}"): evaluate
        for name in ("group_norm", "native_group_norm")
    }
    feed = {"x": array_of(2, 8, 5, 6)}
    plain = aten_model("group_norm", [2, 8, 5, 6], [np.array(4), None, array_of(8)])
    for model in (plain, native_model([2, 8, 5, 6], 4, used=3)):
        assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    x = array_of(2, 8, 5, 6)
    done = run_pass(PASS, in_branch(aten_model("group_norm", [2, 8, 5, 6], [np.array(4)])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, normal(x, 4, None, None)[0], **CLOSE)


@given(
    groups=st.integers(1, 4),
    per=st.integers(1, 3),
    size=st.integers(1, 5),
    opset=st.sampled_from([7, 9, 13, 18]),
    dynamic=st.booleans(),
)
def test_any_groups(groups: int, per: int, size: int, opset: int, dynamic: bool) -> None:
    channels = groups * per
    x, weight, bias = array_of(2, channels, size), array_of(channels), array_of(channels, seed=8)
    shape: list[int | str] = ["N", channels, "L"] if dynamic else [2, channels, size]
    arguments = [np.array(groups), weight, bias, np.array(1e-2)]
    model = aten_model("group_norm", shape, arguments, opset=opset)
    becomes(PASS, model, {"x": x}, normal(x, groups, weight, bias, 1e-2)[0], **CLOSE)
