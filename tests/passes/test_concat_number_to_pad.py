"""concat-number-to-pad: constants of one number at the ends of a Concat."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "concat-number-to-pad"
K = "@k = Constant <value = float[1,1] {2.0}> ()\n"
L = "@l = Constant <value = float[1,2] {-3.0, -3.0}> ()\n"
X = np.array([[1, np.nan, np.inf]], np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("body", "size", "ops"),
    [
        (K + "@y = Concat <axis = -1> (@k, x)", "1,4", {"Pad"}),
        (K + "@y = Concat <axis = 1> (x, @k)", "1,4", {"Pad"}),
        (K + L + "@y = Concat <axis = 1> (@l, x, @k)", "1,6", {"Pad"}),
        (K + "@y = Concat <axis = 1> (x, x, @k)", "1,7", {"Concat", "Pad"}),
        (K.replace("1,1", "1,3").replace("2.0", "2.0, 2.0, 2.0")
         + "@y = Concat <axis = 0> (@k, x)", "2,3", {"Pad"}),
    ],
)  # fmt: skip
def test_the_same_numbers(body: str, size: str, ops: set[str], place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(body, "float[1,3] x", f"float[{size}]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert {node.op_type for node in done.after.graph.node} - {"Constant"} == ops


@pytest.mark.parametrize(("kind", "number"), [("float16", "16384"), ("double", "2.0")])
def test_other_floats(kind: str, number: str) -> None:
    body = K.replace("float", kind).replace("2.0", number) + "@y = Concat <axis = 1> (@k, x)"
    text = written(body, f"{kind}[1,3] x", f"{kind}[1,4]")  # float16 is written by its bits
    x = X.astype(np.float16 if kind == "float16" else np.float64)
    assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=0, atol=0)


def test_sizes_that_are_open() -> None:
    text = written(K + "@y = Concat <axis = 1> (x, @k)", "float[1,N] x", "float[1,M]")
    assert_rewrite(PASS, text, feeds=[{"x": X}, {"x": X[:, :1]}], rtol=0, atol=0)


def test_refusals() -> None:
    ends = ("float[1,3] x", "float[1,A]")
    differ = L.replace("-3.0, -3.0", "-3.0, 3.0")
    for body in (
        differ + "@y = Concat <axis = 1> (@l, x)",
        K + "@y = Concat <axis = 1> (x, @k, x)",
        K + "@y = Concat <axis = 1> (@k, @k)",
    ):
        assert_refused(PASS, written(body, *ends), "a constant of one number must stand at an end")
    integers = "@k = Constant <value = int64[1,1] {2}> ()\n@y = Concat <axis = 1> (x, @k)"
    assert_refused(PASS, written(integers, "int64[1,3] x", "int64[1,4]"), "must be")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
