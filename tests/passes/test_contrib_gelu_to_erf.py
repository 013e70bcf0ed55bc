"""contrib-gelu-to-erf: Gelu, BiasGelu and QuickGelu as arithmetic."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "contrib-gelu-to-erf"
MS = ', "com.microsoft" : 1'
X = np.linspace(-6, 6, 12, dtype=np.float32).reshape(3, 4)


def gelu(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.array(
        [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x.ravel().tolist()]
    ).reshape(x.shape)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 17, 20])
def test_gelu(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written("@y = com.microsoft.Gelu (x)", "float[N, 4] x", "float[N, 4]",
                   opset=opset, place=place, imports=MS)  # fmt: skip
    feed = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], gelu(X), rtol=1e-5, atol=1e-6)


def test_bias_gelu() -> None:
    text = written("@y = com.microsoft.BiasGelu (x, b)", "float[N, 4] x, float[4] b", "float[N, 4]",
                   imports=MS)  # fmt: skip
    feed = {"x": X, "b": np.array([1, 0, -1, 0.5], np.float32)}
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    wanted = gelu(X + feed["b"])
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("alpha", ["", "<alpha = 1.0>"])
def test_quick_gelu(alpha: str) -> None:
    text = written(f"@y = com.microsoft.QuickGelu {alpha} (x)", "float[N, 4] x", "float[N, 4]",
                   imports=MS)  # fmt: skip
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], after=["Mul", "Sigmoid", "Mul"], rtol=1e-4,
                          atol=1e-6)  # fmt: skip
    wanted = X / (1 + np.exp(-(1.0 if alpha else 1.702) * X))
    np.testing.assert_allclose(outputs_of(done.after, {"x": X})["y"], wanted, rtol=1e-4, atol=1e-6)


def test_half_precision_is_computed_in_single() -> None:
    text = written("@y = com.microsoft.Gelu (x)", "float16[5] x", "float16[5]", imports=MS)
    done = run_pass(PASS, text)
    x = np.array([-3, -0.5, 0, 0.5, 300], np.float16)
    wanted = gelu(x.astype(np.float64))
    np.testing.assert_allclose(outputs_of(done.after, {"x": x})["y"], wanted, rtol=1e-3, atol=1e-4)


def test_integers_are_refused() -> None:
    text = written("@y = com.microsoft.Gelu (x)", "int32[2] x", "int32[2]", imports=MS)
    assert_refused(PASS, text, "x must be float32, float64, float16 or bfloat16; it is int32")


def test_leaves_the_standard_one_alone() -> None:
    assert_untouched(PASS, written("@y = Gelu (x)", "float[3] x", "float[3]", opset=20))


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = com.microsoft.Gelu (x)", "float[N] x", "float[N]", imports=MS)
    feed = {"x": np.array(values, np.float32)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)
