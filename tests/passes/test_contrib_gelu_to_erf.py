"""contrib-gelu-to-erf: Gelu, BiasGelu and QuickGelu as arithmetic."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
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


def test_half_precision_is_computed_in_single() -> None:
    text = written("@y = com.microsoft.Gelu (x)", "float16[5] x", "float16[5]", imports=MS)
    done = run_pass(PASS, text)
    x = np.array([-3, -0.5, 0, 0.5, 300], np.float16)
    wanted = gelu(x.astype(np.float64))
    np.testing.assert_allclose(outputs_of(done.after, {"x": x})["y"], wanted, rtol=1e-3, atol=1e-4)


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = com.microsoft.Gelu (x)", "float[N] x", "float[N]", imports=MS)
    feed = {"x": np.array(values, np.float32)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)
