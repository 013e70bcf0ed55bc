"""reduction-of-fewer-dimensions: pooled patches, held to numpy."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "reduction-of-fewer-dimensions"
X = np.random.default_rng(1).integers(-99, 100, (2, 3, 4, 6))
NUMPY: dict[str, Any] = {
    "ReduceMax": np.max, "ReduceMin": np.min, "ReduceMean": np.mean, "ReduceSum": np.sum,
}  # fmt: skip
TYPES: dict[str, Any] = {"float": np.float32, "double": np.float64, "int32": np.int32}


def body(op: str, keep: int = 0, perm: str = "0,1,2,4,3,5") -> str:
    return (
        "@s = Constant <value = int64[6] {-1, 3, 2, 2, 3, 2}> ()\n@a = Reshape (x, @s)\n"
        f"@b = Transpose <perm = [{perm}]> (@a)\n"
        f"@y = {op} <axes = [4, -1], keepdims = {keep}> (@b)"
    )


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("kind", sorted(TYPES))
@pytest.mark.parametrize("op", sorted(NUMPY))
def test_values(op: str, kind: str, place: str) -> None:
    inputs = f"{kind}[2,3,4,6] x"
    text = written(body(op), inputs, f"{kind}[2,3,2,3]", opset=11, place=place)
    feed: dict[str, Any] = {"x": X.astype(TYPES[kind])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6)
    right = NUMPY[op](X.astype(TYPES[kind]).reshape(2, 3, 2, 2, 3, 2), axis=(3, 5))
    given = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(given, right.astype(given.dtype), rtol=1e-6, atol=1e-5)
