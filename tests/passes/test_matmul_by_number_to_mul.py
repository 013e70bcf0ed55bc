"""matmul-by-number-to-mul: matrices of one number."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
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


@pytest.mark.parametrize(("kind", "number"), [("float16", "16640"), ("double", "2.5")])
def test_other_floats(kind: str, number: str) -> None:
    body = K.replace("float", kind).replace("2.5", number) + "@y = MatMul (x, @k)"
    text = written(body, f"{kind}[N,1] x", f"{kind}[N,1]")  # float16 is written by its bits
    x = np.array([[1], [-2]], np.float16 if kind == "float16" else np.float64)
    assert_rewrite(PASS, text, feeds=[{"x": x}, {"x": x[:1]}], rtol=0, atol=0)


def test_refusals() -> None:
    two = K.replace("1,1", "1,2").replace("2.5", "2.5, 1.0") + "@y = MatMul (x, @k)"
    assert_refused(PASS, written(two, "float[3,1] x", "float[3,2]"), "a constant of one number")
    vector = K + "@y = MatMul (x, @k)"
    assert_refused(PASS, written(vector, "float[1] x", "float[1]"), "must be matrices")
    more = K.replace("1,1", "1,1,1") + "@y = MatMul (x, @k)"
    assert_refused(PASS, written(more, "float[3,1] x", "float[1,3,1]"), "must be matrices")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
