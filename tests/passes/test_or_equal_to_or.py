"""or-equal-to-or: two comparisons."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "or-equal-to-or"
KINDS: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "int32": np.int32,
    "int64": np.int64,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [12, 16, 21])
@pytest.mark.parametrize("dtype", sorted(KINDS))
@pytest.mark.parametrize("op", ["GreaterOrEqual", "LessOrEqual"])
def test_values(op: str, dtype: str, opset: int, place: str) -> None:
    inputs = f"{dtype}[N, 1] a, {dtype}[M] b"
    text = written(f"@y = {op} (a, b)", inputs, "bool[N, M]", opset=opset, place=place)
    values = np.array([-2, -1, 0, 1, 2**20], KINDS[dtype])
    feed: dict[str, Any] = {"a": values[:, None], "b": values}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    compare = np.greater_equal if op == "GreaterOrEqual" else np.less_equal
    wanted = compare(feed["a"], feed["b"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@given(st.lists(st.floats(width=32), min_size=1, max_size=5), st.booleans())
def test_any_numbers(values: list[float], greater: bool) -> None:
    op = "GreaterOrEqual" if greater else "LessOrEqual"
    text = written(f"@y = {op} (a, b)", "float[N, 1] a, float[N] b", "bool[N, N]")
    x = np.array(values, np.float32)
    assert_rewrite(PASS, text, feeds=[{"a": x[:, None], "b": x}])
