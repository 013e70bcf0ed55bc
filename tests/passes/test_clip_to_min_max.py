"""clip-to-min-max: the bounds of integers one after the other."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "clip-to-min-max"
CASES = {
    "x, @low, @high": ["Max", "Min"],
    "x, @low": ["Max"],
    "x, , @high": ["Min"],
    "x, @high, @low": ["Max", "Min"],
}
X = [-9, -3, -2, 0, 4, 5, 9]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operands", sorted(CASES))
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_bounds(dtype: str, operands: str, place: str) -> None:
    body = (
        f"@low = Constant <value = {dtype} {{-2}}> ()\n"
        f"@high = Constant <value = {dtype} {{4}}> ()\n"
        f"@y = Clip ({operands})"
    )
    text = written(body, f"{dtype}[N] x", f"{dtype}[N]", opset=13, place=place)
    feed: dict[str, Any] = {"x": np.array(X, dtype)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    low, high = (-2, 4) if "@low, @high" in operands else (4, -2)
    low = -(2**31) if "@low" not in operands else low
    high = 2**31 - 1 if "@high" not in operands else high
    low = -2 if operands == "x, @low" else low
    high = 4 if operands == "x, , @high" else high
    wanted = np.minimum(np.maximum(X, low), high)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == CASES[operands]


@pytest.mark.parametrize(
    ("kind", "opset"), [("float", 11), ("float", 13), ("float16", 13), ("double", 13)]
)
def test_floats_between_computed_bounds(kind: str, opset: int) -> None:
    inputs = f"{kind}[N] x, {kind} low, {kind} high"
    text = written("@y = Clip (x, low, high)", inputs, f"{kind}[N]", opset=opset)
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
    x = np.array([-3, -0.5, 0.25, 9], dtype)
    for low, high in ((-1, 2), (2, -1)):
        feed = {"x": x, "low": np.array(low, dtype), "high": np.array(high, dtype)}
        done = assert_rewrite(PASS, text, feeds=[feed])
        wanted = np.minimum(np.maximum(x, low), high).tolist()
        assert outputs_of(done.after, feed)["y"].tolist() == wanted
