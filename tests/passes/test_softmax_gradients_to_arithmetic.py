"""softmax-gradients-to-arithmetic: held to differences of Softmax and LogSoftmax."""

from typing import Any

import numpy as np
import pytest

from graphfix.authoring import Array
from graphfix.testing import assert_rewrite
from passes.contrib.softmax_gradients_to_arithmetic import numbers
from tests.passes.gradient_cases import done_by, gradient, inside_a_branch, text_of

PASS = "softmax-gradients-to-arithmetic"
RNG = np.random.default_rng(3)
X, DY = (RNG.standard_normal((2, 3, 4)).astype(np.float32) for _ in range(2))


def softmax(x: Array, axes: tuple[int, ...]) -> Array:
    raised = np.exp(x - x.max(axes, keepdims=True))
    return np.asarray(raised / raised.sum(axes, keepdims=True))


CASES = [
    ("SoftmaxGrad_13", "", (2,)),
    ("SoftmaxGrad_13", "<axis = 1>", (1,)),
    ("LogSoftmaxGrad_13", "<axis = -2>", (1,)),
    ("LogSoftmaxGrad_13", "<axis = 0>", (0,)),
    ("SoftmaxGrad", "", (1, 2)),
    ("LogSoftmaxGrad", "<axis = 2>", (2,)),
]


@pytest.mark.parametrize(("op", "attributes", "axes"), CASES)
@pytest.mark.parametrize("kind", ["float", "float16", "double"])
def test_gradients(op: str, attributes: str, axes: tuple[int, ...], kind: str) -> None:
    dtype: Any = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]

    def forward(x: Array) -> Array:
        chances = softmax(x, axes)
        return np.log(chances) if op.startswith("Log") else chances

    expected = gradient(forward, X, DY)
    feed = {"dy": DY.astype(dtype), "y": forward(X.astype(np.float64)).astype(dtype)}
    node = f"dx = com.microsoft.{op} {attributes} (dy, y)"
    text = text_of(node, f"{kind}[N, 3, M] dy, {kind}[N, 3, M] y", f"{kind}[N, 3, M] dx")
    near = 1e-2 if kind == "float16" else 1e-5
    _, (found,) = done_by(PASS, text, feed)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=near, atol=near)
    if kind == "float":
        models = {("com.microsoft", op): numbers}
        assert_rewrite(PASS, text, feeds=[feed], evaluators=models, rtol=1e-5, atol=1e-6)


def test_in_a_branch() -> None:
    node = "t = com.microsoft.SoftmaxGrad_13 (dy, y)"
    text = inside_a_branch(node, "float[2, 3, 4] dy, float[2, 3, 4] y", "float[2, 3, 4]")
    y = softmax(X, (2,))
    _, (found,) = done_by(PASS, text, {"c": np.array(True), "dy": DY, "y": y})
    expected = gradient(lambda x: softmax(x, (2,)), X, DY)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
