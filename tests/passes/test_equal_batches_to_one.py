"""equal-batches-to-one: constants whose batches are all the same."""

from typing import Any

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "equal-batches-to-one"
K = "@k = Constant <value = float[2,1,3] {1.5, 2.0, 4.0, 1.5, 2.0, 4.0}> ()\n"
X = np.array([[[1, np.nan, np.inf]], [[-0.0, 3, 9]]], np.float32)
ENDS = ("float[2,1,3] x", "float[2,1,3]")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["Add", "Div", "Max", "Min", "Mul", "Pow", "Sub"])
@pytest.mark.parametrize("operands", ["x, @k", "@k, x"])
def test_the_same_numbers(operands: str, op: str, place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(f"{K}@y = {op} ({operands})", *ENDS, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert done.ops == [op]
        (stored,) = done.after.graph.initializer
        assert list(stored.dims) == [1, 1, 3]


@pytest.mark.parametrize(("kind", "dtype"), [("double", np.float64), ("int64", np.int64)])
def test_types(kind: str, dtype: Any) -> None:
    body = f"@k = Constant <value = {kind}[2,1,3] {{1, 2, 4, 1, 2, 4}}> ()\n@y = Mul (x, @k)"
    text = written(body, f"{kind}[2,1,3] x", f"{kind}[2,1,3]")
    x = np.array([[[0, 1, 2]], [[3, 4, 5]]], dtype)
    assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=0, atol=0)


def test_sizes_that_are_open() -> None:
    text = written(K + "@y = Add (x, @k)", "float[2,N,3] x", "float[2,N,3]")
    feeds = [{"x": X}, {"x": np.zeros((2, 4, 3), np.float32)}]
    assert_rewrite(PASS, text, feeds=feeds, rtol=0, atol=0)
    text = written(K + "@y = Add (x, @k)", "float[N,1,3] x", "float[2,1,3]")
    assert_refused(PASS, text, "x must be known to have as many batches as")


def test_refusals() -> None:
    differ = K.replace("1.5, 2.0, 4.0}", "1.5, 2.0, 4.5}")
    reason = "must be the same; they differ"
    assert_refused(PASS, written(differ + "@y = Add (x, @k)", *ENDS), reason)
    signs = K.replace("1.5, 2.0, 4.0}", "1.5, 2.0, -0.0}").replace("4.0, 1.5", "0.0, 1.5")
    assert_refused(PASS, written(signs + "@y = Add (x, @k)", *ENDS), reason)
    one = "float[1,1,3] x", "float[2,1,3]"
    assert_refused(PASS, written(K + "@y = Add (x, @k)", *one), "as many batches as")
    rank = "float[1,3] x", "float[2,1,3]"
    assert_refused(PASS, written(K + "@y = Add (x, @k)", *rank), "as many batches as")
    assert_refused(PASS, written("@y = Add (x, x)", *ENDS), "must be a constant of several batches")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))


def test_what_ncnn_misreads_is_repaired() -> None:
    body = (
        "r = Constant <value = int64[3] {2, 1, 3}> ()\np = MaxPool <kernel_shape = [1, 1]> (x)\n"
        f"@m = Reshape (p, r)\n{K}@y = Add (@m, @k)"
    )
    model = parser.parse_model(written(body, "float[2,1,1,3] x", "float[2,1,3]"))
    assert "form:Add.constant" in {found.feature for found in graphfix.check(model, "ncnn1.0")}
    result = graphfix.run(model, "ncnn1.0")
    assert (result.exit_code, result.report.findings_after) == (0, ())
