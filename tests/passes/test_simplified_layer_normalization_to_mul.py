"""simplified-layer-normalization-to-mul: divided by the root mean square."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "simplified-layer-normalization-to-mul"
BODY = "@y = SimplifiedLayerNormalization <axis = {axis}, epsilon = 0.001> (x, s)"


def feed_of(kind: Any = np.float32, *, axis: int = -1) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shape = (2, 3, 6)
    sizes = {"x": shape, "s": shape[axis:]}
    return {name: rng.standard_normal(size).astype(kind) for name, size in sizes.items()}


def wanted(feed: dict[str, Any], axes: tuple[int, ...] = (-1,)) -> Any:
    x = feed["x"].astype(np.float64)
    return x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + 1e-3) * feed["s"]


@pytest.mark.parametrize("place", ["main", "branch"])  # onnxruntime falls over it in a function
@pytest.mark.parametrize("opset", [13, 17, 18])
def test_the_last_axis(opset: int, place: str) -> None:
    text = written(
        BODY.format(axis=-1), "float[N, 3, 6] x, float[6] s", "float[N, 3, 6]", opset=opset,
        place=place,
    )  # fmt: skip
    feed = feed_of()
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted(feed), rtol=1e-5)


def test_several_axes() -> None:
    text = written(BODY.format(axis=1), "float[N, 3, 6] x, float[3, 6] s", "float[N, 3, 6]")
    feed = feed_of(axis=-2)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    given = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(given, wanted(feed, (1, 2)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "rtol"), [("float16", 1e-3), ("double", 1e-6)])
def test_other_types(kind: str, rtol: float) -> None:
    text = written(BODY.format(axis=-1), f"{kind}[2, 3, 6] x, {kind}[6] s", f"{kind}[2, 3, 6]")
    feed = feed_of(np.float16 if kind == "float16" else np.float64)
    assert_rewrite(PASS, text, feeds=[feed], rtol=rtol, atol=rtol)
