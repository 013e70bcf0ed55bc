"""matmul-constant-batch: a constant with all batches of the product."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "matmul-constant-batch"
RNG = np.random.default_rng(3)
TYPES: dict[str, Any] = {"float": np.float32, "double": np.float64, "int32": np.int32}


def body(sizes: str, count: int, dtype: str = "float") -> str:
    numbers = ", ".join(f"{n}.0" if dtype != "int32" else str(n) for n in range(count))
    return f"@k = Constant <value = {dtype}[{sizes}] {{{numbers}}}> ()\n@y = MatMul (x, @k)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_the_batches_are_repeated(dtype: str, place: str) -> None:
    text = written(
        body("2,1,3,2", 12, dtype), f"{dtype}[2,4,R,3] x", f"{dtype}[2,4,R,2]", place=place
    )
    feed: dict[str, Any] = {"x": RNG.integers(-4, 5, (2, 4, 5, 3)).astype(TYPES[dtype])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert [list(t.dims) for t in done.after.graph.initializer][-1:] == [[2, 4, 3, 2]]


def test_more_batches_on_the_left() -> None:
    text = written(body("2,3,2", 12), "float[5,2,4,3] x", "float[5,2,4,2]")
    feed = {"x": RNG.standard_normal((5, 2, 4, 3)).astype(np.float32)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
