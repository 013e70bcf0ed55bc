"""matmul-by-number-to-mul: matrices of one element."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "matmul-by-number-to-mul"
K = "@k = Constant <value = float[1,1] {2.5}> ()\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("body", "shape"),
    [
        (K + "@y = MatMul (x, @k)", "2,1"),
        (K + "@y = MatMul (@k, x)", "1,3"),
        (K + "@y = MatMul (x, @k)", "3,2,1"),
        (K.replace("1,1", "1,1,1") + "@y = MatMul (@k, x)", "2,1,3"),
    ],
)
def test_the_same_numbers(body: str, shape: str, place: str) -> None:
    sizes = [int(size) for size in shape.split(",")]
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes) - 1
    x.flat[0] = np.inf
    feed: dict[str, Any] = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(body, f"float[{shape}] x", f"float[{shape}]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert {node.op_type for node in done.after.graph.node} - {"Constant"} == {"Mul"}
