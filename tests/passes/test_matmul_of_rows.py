"""matmul-of-rows: a tensor of many dimensions by a constant matrix."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import written

PASS = "matmul-of-rows"
RNG = np.random.default_rng(3)
TYPES: dict[str, Any] = {"float": np.float32, "double": np.float64, "int32": np.int32}


def body(sizes: str, dtype: str = "float", count: int = 6) -> str:
    numbers = ", ".join(f"{n}.0" if dtype != "int32" else str(n) for n in range(count))
    return f"@k = Constant <value = {dtype}[{sizes}] {{{numbers}}}> ()\n@y = MatMul (x, @k)"


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("dtype", sorted(TYPES))
@pytest.mark.parametrize("sizes", ["3,2", "1,1,3,2"])
def test_values(sizes: str, dtype: str, place: str) -> None:
    text = written(body(sizes, dtype), f"{dtype}[2,1,4,5,3] x", f"{dtype}[2,1,4,5,2]", place=place)
    x = RNG.integers(-4, 5, (2, 1, 4, 5, 3)).astype(TYPES[dtype])
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert [n.op_type for n in done.after.graph.node if n.op_type != "Constant"] == [
            "Reshape", "MatMul", "Reshape",
        ]  # fmt: skip


def test_refusals() -> None:
    def refused(constant: str, sizes: str, result: str, reason: str, count: int = 6) -> None:
        text = written(body(constant, count=count), f"float[{sizes}] x", f"float[{result}]")
        assert_refused(PASS, text, reason)

    unknown = "the sizes of x must be known and none of them 0"
    refused("3,2", "B,2,4,3", "B,2,4,2", unknown)
    refused("3,2", "0,2,4,3", "0,2,4,2", unknown)
    refused("3,2", "4,3", "4,2", "x must have 3 dimensions; it has 2")
    refused("3", "2,4,3", "2,4", "must be one matrix; its shape is [3]", 3)
    refused("2,3,2", "2,4,3", "2,4,2", "must be one matrix; its shape is [2, 3, 2]", 12)
    two = written("@y = MatMul (x, z)", "float[2,4,3] x, float[3,2] z", "float[2,4,2]")
    assert_refused(PASS, two, "the second operand")
