"""concat-constant-to-sum: constants at the ends of a Concat, added to what is padded."""

from typing import Any

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "concat-constant-to-sum"
K = "@k = Constant <value = float[2,1,2] {2.5, -3.0, 2.5, -3.0}> ()\n"
L = "@l = Constant <value = float[2,2,2] {4.0, 5.0, inf, 7.0, 4.0, 5.0, inf, 7.0}> ()\n"
X = np.array([[[1, np.nan], [np.inf, -2]], [[3, 4], [-np.inf, 6]]], np.float32)
ENDS = ("float[2,2,2] x", "float[2,A,2]")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("body", "size", "ops"),
    [
        (K + "@y = Concat <axis = 1> (@k, x)", "2,3,2", ["Pad", "Add"]),
        (K + "@y = Concat <axis = -2> (x, @k)", "2,3,2", ["Pad", "Add"]),
        (K + L + "@y = Concat <axis = 1> (@l, x, @k)", "2,5,2", ["Pad", "Add"]),
        (K + "@y = Concat <axis = 1> (@k, x, x)", "2,5,2", ["Concat", "Pad", "Add"]),
        (L + "@y = Concat <axis = 2> (x, @l)", "2,2,4", ["Pad", "Add"]),
    ],
)
def test_the_same_numbers(body: str, size: str, ops: list[str], place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(body, "float[2,2,2] x", f"float[{size}]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == ops


@pytest.mark.parametrize(("kind", "dtype"), [("float16", np.float16), ("double", np.float64)])
def test_other_floats(kind: str, dtype: type) -> None:
    number = "16384" if kind == "float16" else "2.0"  # float16 is written by its bits
    body = f"@k = Constant <value = {kind}[2,1,2] {{{', '.join([number] * 4)}}}> ()\n"
    text = written(body + "@y = Concat <axis = 1> (@k, x)", f"{kind}[2,2,2] x", f"{kind}[2,3,2]")
    done = assert_rewrite(PASS, text, feeds=[{"x": X.astype(dtype)}], rtol=0, atol=0)
    assert done.ops == ["Pad", "Add"]


@pytest.mark.parametrize("sizes", ["N,2,2", "2,N,2", "2,2,N"])
def test_sizes_that_are_open(sizes: str) -> None:
    text = written(K + "@y = Concat <axis = 1> (x, @k)", f"float[{sizes}] x", "float[A,B,C]")
    assert_refused(PASS, text, "the sizes of x must be known")


def test_refusals() -> None:
    differ = K.replace("2.5, -3.0}", "2.5, 3.0}")
    reason = "must be the same; they differ"
    assert_refused(PASS, written(differ + "@y = Concat <axis = 1> (@k, x)", *ENDS), reason)
    for body in ("@y = Concat <axis = 1> (x, @k, x)", "@y = Concat <axis = 1> (@k, @k)"):
        reason = "a constant must stand at an end"
        assert_refused(PASS, written(K + body, *ENDS), reason)
    first = written(L + "@y = Concat <axis = 0> (@l, x)", "float[2,2,2] x", "float[4,2,2]")
    assert_refused(PASS, first, "another axis than the first")
    integers = (
        "@k = Constant <value = int64[2,1,2] {1, 2, 1, 2}> ()\n@y = Concat <axis = 1> (x, @k)"
    )
    assert_refused(PASS, written(integers, "int64[2,2,2] x", "int64[2,3,2]"), "must be")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))


def test_what_ncnn_misreads_is_repaired() -> None:
    body = (
        "w = Constant <value = float[2,1,1,1] {1.0, 2.0}> ()\n@c = Conv (x, w)\n"
        "r = Constant <value = int64[3] {2, 2, 2}> ()\n@s = Reshape (@c, r)\n"
        f"{K}@y = Concat <axis = 1> (@k, @s)"
    )
    model = parser.parse_model(written(body, "float[2,1,1,2] x", "float[2,3,2]"))
    assert "form:Concat.constant" in {found.feature for found in graphfix.check(model, "ncnn1.0")}
    result = graphfix.run(model, "ncnn1.0")
    assert (result.exit_code, result.report.findings_after) == (0, ())
