"""sign-to-comparisons: above 0 less below 0."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "sign-to-comparisons"
TYPES: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "int32": np.int32,
    "int64": np.int64,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", sorted(TYPES))
@pytest.mark.parametrize("opset", [9, 11, 13, 17])
def test_every_sign(opset: int, dtype: str, place: str) -> None:
    if place == "function" and opset < 11:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    values: list[float] = [0, 1, -1, 5, -5]
    if dtype in ("float", "double"):
        values += [-0.0, 1e-40, -1e-40, np.inf, -np.inf]
    text = written("@y = Sign (x)", f"{dtype}[N] x", f"{dtype}[N]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": np.array(values, TYPES[dtype])}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_small_integers(dtype: str) -> None:
    done = run_pass(PASS, written("@y = Sign (x)", f"{dtype}[N] x", f"{dtype}[N]"))
    assert "Sign" not in done.ops
    assert done.ops[-1] == "Cast"


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = Sign (x)", "float[N] x", "float[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.float32)}])
