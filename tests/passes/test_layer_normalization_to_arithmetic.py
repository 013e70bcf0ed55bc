"""layer-normalization-to-arithmetic: means and arithmetic, and types where there is no schema."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

Array = np.ndarray[Any, Any]
PASS = "layer-normalization-to-arithmetic"
BODY = "@y = LayerNormalization <axis = {axis}, epsilon = 0.001> (x, w, b)"
KINDS = {"float": np.float32, "double": np.float64, "float16": np.float16}


def feed_of(shape: tuple[int, ...], axis: int, dtype: str = "float") -> dict[str, Array]:
    rng = np.random.default_rng(0)
    tail = shape[axis:]
    arrays = {"x": 3 + 2 * rng.standard_normal(shape), "w": rng.standard_normal(tail),
              "b": rng.standard_normal(tail)}  # fmt: skip
    return {name: array.astype(KINDS[dtype]) for name, array in arrays.items()}


def normalised(feed: dict[str, Array], axis: int) -> Array:
    x = feed["x"].astype(np.float64)
    axes = tuple(range(axis % x.ndim, x.ndim))
    away = x - x.mean(axis=axes, keepdims=True)
    result: Array = (
        away / np.sqrt((away**2).mean(axis=axes, keepdims=True) + 1e-3) * feed["w"] + feed["b"]
    )
    return result


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [17, 18, 22])
@pytest.mark.parametrize("dtype", ["float", "double", "float16"])
def test_last_axis(opset: int, dtype: str, place: str) -> None:
    inputs = f"{dtype}[N, 3, 6] x, {dtype}[6] w, {dtype}[6] b"
    text = written(BODY.format(axis=-1), inputs, f"{dtype}[N, 3, 6]", opset=opset, place=place)
    feed = feed_of((2, 3, 6), -1, dtype)
    if place == "branch":
        feed["c"] = np.array(True)
    close = {"float": 1e-5, "double": 1e-10, "float16": 5e-3}[dtype]
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=close, atol=close)
    result = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(result, normalised(feed, -1), rtol=close, atol=close)


def test_older_opsets_where_only_onnxruntime_has_it() -> None:
    text = written(BODY.format(axis=-1) .replace("@y", "@z") + "\n@y = Relu (@z)",
                   "float[2, 6] x, float[6] w, float[6] b", "float[2, 6]", opset=11)  # fmt: skip
    done = run_pass(PASS, text)
    feed = feed_of((2, 6), -1)
    wanted = np.maximum(normalised(feed, -1), 0)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=1e-5, atol=1e-5)


def test_statistics() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
      g (float[2, 3, 4] x, float[3, 4] w)
        => (float[2, 3, 4] y, float[2, 1, 1] m, float[2, 1, 1] r) {
        y, m, r = LayerNormalization <axis = 1> (x, w)
      }"""
    feed = feed_of((2, 3, 4), 1)
    del feed["b"]
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-5)


def test_a_large_mean_does_not_cancel() -> None:
    text = written(BODY.format(axis=-1), "float[1, 4] x, float[4] w, float[4] b", "float[1, 4]")
    x = np.array([[10000, 10001, 10002, 10003]], np.float32)
    feed = {"x": x, "w": np.ones(4, np.float32), "b": np.zeros(4, np.float32)}
    done = run_pass(PASS, text)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], normalised(feed, -1), rtol=1e-3)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_any_axes(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes, tail = str(shape), str(shape[axis:])
    text = written(
        BODY.format(axis=axis), f"float{sizes} x, float{tail} w, float{tail} b", f"float{sizes}"
    )
    assert_rewrite(PASS, text, feeds=[feed_of(tuple(shape), axis)], rtol=1e-4, atol=1e-4)
