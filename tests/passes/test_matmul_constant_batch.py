"""matmul-constant-batch: a constant with all batches of the product."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
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


def test_refusals() -> None:
    assert_refused(
        PASS,
        written(body("2,1,3,2", 12), "float[2,B,4,3] x", "float[2,B,4,2]"),
        "the batches of x must be known",
    )
    assert_refused(
        PASS,
        written(body("3,2", 6), "float[2,4,3] x", "float[2,4,2]"),
        "must have batches; it has 2 dimensions",
    )
    assert_refused(
        PASS,
        written(body("2,3,2", 12), "float[2,4,3] x", "float[2,4,2]"),
        "must lack batches; it has all",
    )
    two = written("@y = MatMul (x, z)", "float[2,1,4,3] x, float[2,3,2] z", "float[2,2,4,2]")
    assert_refused(PASS, two, "the second operand")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
