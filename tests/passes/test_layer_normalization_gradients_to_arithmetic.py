"""layer-normalization-gradients-to-arithmetic: held to differences of the normalisation."""

from typing import Any

import numpy as np
import pytest

from graphfix.authoring import Array
from graphfix.testing import assert_rewrite
from passes.contrib.layer_normalization_gradients_to_arithmetic import numbers
from tests.passes.gradient_cases import done_by, gradient, inside_a_branch, text_of

PASS = "layer-normalization-gradients-to-arithmetic"
FULL, SIMPLE = "LayerNormalizationGrad", "SimplifiedLayerNormalizationGrad"
RNG = np.random.default_rng(7)
X, DY = (RNG.standard_normal((2, 3, 4)).astype(np.float32) for _ in range(2))
EPSILON = 1e-3


def sides(x: Array, axes: tuple[int, ...], *, simple: bool) -> tuple[Array, Array]:
    mean = np.zeros_like(x.mean(axes, keepdims=True)) if simple else x.mean(axes, keepdims=True)
    inverse = 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + EPSILON)
    return np.asarray(mean), np.asarray(inverse)


@pytest.mark.parametrize("op", [FULL, SIMPLE])
@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("kind", ["float", "float16", "double"])
def test_gradients(op: str, axis: int, kind: str) -> None:
    dtype: Any = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
    axes = (2,) if axis == -1 else (1, 2)
    scale = RNG.standard_normal(X.shape[axes[0] :])
    simple = op == SIMPLE

    def forward(x: Array, gamma: Array) -> Array:
        mean, inverse = sides(x, axes, simple=simple)
        return np.asarray((x - mean) * inverse * gamma)

    wide = X.astype(np.float64)
    expected = [
        gradient(lambda x: forward(x, scale), X, DY),
        gradient(lambda gamma: forward(wide, gamma), scale, DY),
        gradient(lambda beta: forward(wide, scale) + beta, np.zeros_like(scale), DY),
    ]
    mean, inverse = (side.astype(np.float32) for side in sides(wide, axes, simple=simple))
    feed = {"dy": DY.astype(dtype), "x": X.astype(dtype), "s": scale.astype(dtype)}
    feed |= {"i": inverse} if simple else {"m": mean, "i": inverse}
    inner = "[4]" if axis == -1 else "[3, 4]"
    rows = "[N, 3, 1]" if axis == -1 else "[N, 1, 1]"
    inputs = f"{kind}[N, 3, 4] dy, {kind}[N, 3, 4] x, {kind}{inner} s, "
    inputs += f"float{rows} i" if simple else f"float{rows} m, float{rows} i"
    outputs = f"{kind}[N, 3, 4] dx, {kind}{inner} ds" + (f", {kind}{inner} db" * (not simple))
    names = "dx, ds" if simple else "dx, ds, db"
    text = text_of(
        f"{names} = com.microsoft.{op} <axis = {axis}> ({', '.join(feed)})", inputs, outputs
    )
    if kind == "double":
        text = text.replace("float[N, 3, 1]", "double[N, 3, 1]")
        text = text.replace("float[N, 1, 1]", "double[N, 1, 1]")
        feed = {name: value.astype(np.float64) for name, value in feed.items()}
    near = 2e-2 if kind == "float16" else 1e-4
    _, found = done_by(PASS, text, feed)
    assert len(found) == 2 + (not simple)
    for got, wanted in zip(found, expected, strict=False):
        assert got.dtype == dtype
        np.testing.assert_allclose(got, wanted, rtol=near, atol=near)
    if kind == "float":
        models = {("com.microsoft", op): numbers}
        assert_rewrite(PASS, text, feeds=[feed], evaluators=models, rtol=1e-4, atol=1e-5)


def test_in_a_branch() -> None:
    node = f"t, a, b = com.microsoft.{FULL} <axis = -1> (dy, x, s, m, i)"
    inputs = "float[2, 3, 4] dy, float[2, 3, 4] x, float[4] s, float[2, 3, 1] m, float[2, 3, 1] i"
    mean, inverse = sides(X, (2,), simple=False)
    ones = np.ones(4, np.float32)
    feed = {"c": np.array(True), "dy": DY, "x": X, "s": ones, "m": mean, "i": inverse}
    _, (found,) = done_by(PASS, inside_a_branch(node, inputs, "float[2, 3, 4]"), feed)

    def forward(x: Array) -> Array:
        away, scaled = sides(x, (2,), simple=False)
        return np.asarray((x - away) * scaled)

    np.testing.assert_allclose(found, gradient(forward, X, DY), rtol=1e-4, atol=1e-4)
