"""gelu-gradients-to-arithmetic: held to differences of the curves."""

import math
from typing import Any

import numpy as np
import pytest

from graphfix.authoring import Array
from graphfix.testing import assert_rewrite
from passes.contrib.gelu_gradients_to_arithmetic import numbers
from tests.passes.gradient_cases import done_by, gradient, inside_a_branch, text_of

PASS = "gelu-gradients-to-arithmetic"
X = np.array([[-3.0, -0.75, -0.1, 0.2, 1.0, 4.0]], np.float32)
DY = np.array([[1.0, -2.0, 0.5, 3.0, -1.0, 2.0]], np.float32)
B = np.array([0.5, -0.25, 0.3, 0.0, 1.0, -2.0], np.float32)


def by_erf(x: Array) -> Array:
    return np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x.ravel()]).reshape(
        x.shape
    )


def by_tanh(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


CURVES = {
    "GeluGrad": by_erf,
    "FastGeluGrad": by_tanh,
    "BiasGeluGrad_dX": by_erf,
    "BiasFastGeluGrad_dX": by_tanh,
}


@pytest.mark.parametrize("op", CURVES)
@pytest.mark.parametrize("kind", ["float", "float16", "double"])
def test_gelu(op: str, kind: str) -> None:
    if kind == "double" and "Fast" not in op:
        pytest.skip("onnxruntime has no Erf of float64")
    dtype: Any = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
    biased = op.startswith("Bias")
    node = f"y = com.microsoft.{op} (dy, x{', b' if biased else ''})"
    inputs = f"{kind}[N, 6] dy, {kind}[N, 6] x" + (f", {kind}[6] b" if biased else "")
    feed = {"dy": DY.astype(dtype), "x": X.astype(dtype)} | (
        {"b": B.astype(dtype)} if biased else {}
    )
    text = text_of(node, inputs, f"{kind}[N, 6] y")
    at = feed["x"].astype(np.float64) + (feed["b"].astype(np.float64) if biased else 0)
    expected = gradient(CURVES[op], at, DY)
    _, (found,) = done_by(PASS, text, feed)
    assert found.dtype == dtype
    near = 2e-3 if kind == "float16" else 2e-5
    np.testing.assert_allclose(found, expected, rtol=near, atol=near)
    (model,) = numbers(list(feed.values()), {"operator": op})
    np.testing.assert_allclose(model, expected, rtol=near, atol=near)
    models = {("com.microsoft", op): numbers}
    if kind == "float":
        assert_rewrite(PASS, text, feeds=[feed], evaluators=models, rtol=1e-5, atol=1e-6)


def test_in_a_branch() -> None:
    text = inside_a_branch(
        "t = com.microsoft.GeluGrad (dy, x)", "float[1, 6] dy, float[1, 6] x", "float[1, 6]"
    )
    _, (found,) = done_by(PASS, text, {"c": np.array(True), "dy": DY, "x": X})
    np.testing.assert_allclose(found, gradient(by_erf, X, DY), rtol=2e-5, atol=2e-5)
