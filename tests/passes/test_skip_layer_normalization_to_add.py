"""skip-layer-normalization-to-add: a sum and its normalisation."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "skip-layer-normalization-to-add"
MS = ', "com.microsoft" : 1'
FULL = "@y = com.microsoft.SkipLayerNormalization <epsilon = 0.001> (x, k, g, e, b)"
INPUTS = "float[N, 3, {0}] x, float[N, 3, {0}] k, float[{0}] g, float[{0}] e, float[{0}] b"


def feed_of(size: int = 6, kind: Any = np.float32) -> dict[str, Any]:
    rng = np.random.default_rng(size)
    shapes = {"x": (2, 3, size), "k": (2, 3, size), "g": (size,), "e": (size,), "b": (size,)}
    return {name: rng.standard_normal(shape).astype(kind) for name, shape in shapes.items()}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 17, 18])
def test_all_operands(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(FULL, INPUTS.format(6), "float[N, 3, 6]", opset=opset, place=place, imports=MS)
    feed = feed_of()
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)
    total = (feed["x"] + feed["k"] + feed["b"]).astype(np.float64)
    away = total - total.mean(axis=-1, keepdims=True)
    wanted = away / np.sqrt((away**2).mean(axis=-1, keepdims=True) + 1e-3) * feed["g"] + feed["e"]
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=1e-4, atol=1e-5)


def test_half_precision_is_computed_in_single() -> None:
    text = written(
        FULL, INPUTS.format(6).replace("float", "float16"), "float16[N, 3, 6]", imports=MS
    )
    feed = feed_of(kind=np.float16)
    wide = outputs_of(
        run_pass(PASS, written(FULL, INPUTS.format(6), "float[N, 3, 6]", imports=MS)).after,
        {name: value.astype(np.float32) for name, value in feed.items()},
    )["y"]
    result = outputs_of(run_pass(PASS, text).after, feed)["y"]
    np.testing.assert_allclose(result, wide.astype(np.float16), rtol=1e-3, atol=1e-3)


@given(st.integers(1, 9))
def test_any_size(size: int) -> None:
    text = written(FULL, INPUTS.format(size), f"float[N, 3, {size}]", imports=MS)
    assert_rewrite(PASS, text, feeds=[feed_of(size)], rtol=1e-3, atol=1e-4)
