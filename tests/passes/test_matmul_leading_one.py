"""matmul-leading-one: an axis of one that is repeated along that of the other operand."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "matmul-leading-one"
RNG = np.random.default_rng(3)
TYPES: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "int32": np.int32,
    "int64": np.int64,
    "uint32": np.uint32,
}
NODE = "@y = MatMul (a, b)"


def numbers(*sizes: int, dtype: str = "float") -> Any:
    return RNG.integers(0, 5, sizes).astype(TYPES[dtype])


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("dtype", sorted(TYPES))
@pytest.mark.parametrize("turned", [False, True])
def test_values(dtype: str, place: str, *, turned: bool) -> None:
    one, other = ("1,2,1", "2,1,2") if turned else ("2,1,2", "1,2,1")
    text = written(
        NODE, f"{dtype}[{one},3,4] a, {dtype}[{other},4,5] b", f"{dtype}[2,2,2,3,5]", place=place
    )
    a, b = ((1, 2, 1), (2, 1, 2)) if turned else ((2, 1, 2), (1, 2, 1))
    feed = {"a": numbers(*a, 3, 4, dtype=dtype), "b": numbers(*b, 4, 5, dtype=dtype)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert [n.op_type for n in done.after.graph.node if n.op_type != "Constant"] == [
            "Squeeze", "MatMul",
        ]  # fmt: skip
