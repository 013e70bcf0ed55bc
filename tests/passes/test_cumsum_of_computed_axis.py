"""cumsum-of-computed-axis: the sum along the axis that a number names."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "cumsum-of-computed-axis"
RNG = np.random.default_rng(3)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 14, 21])
@pytest.mark.parametrize(
    ("axis", "kind"), [(0, "int64"), (1, "int32"), (-1, "int64"), (-3, "int32")]
)
def test_each_axis(axis: int, kind: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    inputs = f"float[N, 3, 4] x, {kind} a"
    text = written("@y = CumSum (x, a)", inputs, "float[N, 3, 4]", opset=opset, place=place)
    x = RNG.integers(-9, 9, (2, 3, 4)).astype(np.float32)
    feed: dict[str, Any] = {"x": x, "a": np.array(axis, kind)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.cumsum(x, axis=axis))


@pytest.mark.parametrize("kind", ["float", "double", "int32", "int64"])
def test_types_and_attributes(kind: str) -> None:
    body = "@y = CumSum <exclusive = 1, reverse = 1> (x, a)"
    text = written(body, f"{kind}[2, 3] x, int64[1] a", f"{kind}[2, 3]", opset=14)
    dtype: Any = {"float": np.float32, "double": np.float64}.get(kind, kind)
    x = RNG.integers(-9, 9, (2, 3)).astype(dtype)
    for axis in (0, 1):
        feed = {"x": x, "a": np.array([axis], np.int64)}
        done = assert_rewrite(PASS, text, feeds=[feed])
        backward = np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)
        np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], backward - x)
