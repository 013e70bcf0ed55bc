"""matmul-leading-one: an axis of one that is repeated along that of the other operand."""

from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.api import run
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
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


def test_open_sizes() -> None:
    text = written(NODE, "float[B,2,3,4] a, float[1,N,4,5] b", "float[B,2,3,5]")
    feeds = [{"a": numbers(3, 2, 3, 4), "b": numbers(1, n, 4, 5)} for n in (1, 2)]
    assert_rewrite(PASS, text, feeds=feeds, rtol=0, atol=0, no_small_sides="B and N are sizes")


def test_refusals() -> None:
    few = "the operands must have equally many dimensions, 3 at least"
    for a, b, result in (("2,2,3,4", "1,4,5", "2,2,3,5"), ("1,4", "4,5", "1,5")):
        text = written(NODE, f"float[{a}] a, float[{b}] b", f"float[{result}]")
        assert_refused(PASS, text, few)
    alike = "the first size of one operand must be 1, and that of the other must not"
    for a, b, result in (
        ("2,3,4", "2,4,5", "2,3,5"),
        ("1,3,4", "1,4,5", "1,3,5"),
        ("B,3,4", "B,4,5", "B,3,5"),
    ):
        assert_refused(
            PASS, written(NODE, f"float[{a}] a, float[{b}] b", f"float[{result}]"), alike
        )


def test_from_the_finding_to_the_end() -> None:
    text = written(NODE, "float[2,2,2,3,4] a, float[1,2,2,4,5] b", "float[2,2,2,3,5]")
    result = run(onnx.parser.parse_model(text), "qnn2", verify="full")
    assert "shape:MatMul.batches" in [f.feature for f in result.report.findings_before if f.blocks]
    assert not [f for f in result.report.findings_after if f.blocks]


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
