"""expand-shape-to-constant: a size of the input needs no expanding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, numpy_helper

from graphfix.testing import assert_rewrite, assert_untouched
from tests.passes.shape_models import in_branch, text

PASS = "expand-shape-to-constant"


def expanding(kind: str, opset: int, known: str = "5,4") -> ModelProto:
    return text(
        f"g ({kind}[N,1,4] x) => ({kind}[A,5,4] y) <int64[1] i = {{0}}, int64[2] k = {{{known}}}> "
        "{ s = Shape (x) n = Gather (s, i) p = Concat <axis = 0> (n, k) y = Expand (x, p) }",
        opset,
    )


@pytest.mark.parametrize("opset", [8, 11, 13, 17, 21])
@pytest.mark.parametrize("kind", ["float", "int64", "bool"])
def test_a_size_of_the_input_becomes_1(opset: int, kind: str) -> None:
    dtype = {"float": "float32"}.get(kind, kind)
    feeds = [{"x": np.arange(4 * n).reshape(n, 1, 4).astype(dtype)} for n in (1, 3, 0)]
    done = assert_rewrite(PASS, expanding(kind, opset), feeds=feeds, after=["Expand"])
    found = {t.name: numpy_helper.to_array(t).tolist() for t in done.after.graph.initializer}
    assert found[done.after.graph.node[0].input[1]] == [1, 5, 4]


def test_torch_writes_where_around_minus_one() -> None:
    model = text(
        "g (float[N,1,4] x) => (float[A,5,4] y) <int64[1] i = {0}, int64[2] k = {5, -1}, "
        "int64[3] ones = {1, 1, 1}, int64 minus = {-1}> "
        "{ s = Shape (x) n = Gather (s, i) p = Concat <axis = 0> (n, k) e = Equal (p, minus) "
        "q = Where (e, ones, p) y = Expand (x, q) }"
    )
    feeds = [{"x": np.arange(12, dtype=np.float32).reshape(3, 1, 4)}]
    assert_rewrite(PASS, model, feeds=feeds, after=["Expand"])


def test_in_a_branch() -> None:
    line = (
        "LOCALs = Shape (x) LOCALi = Constant <value = int64[1] {0}> () "
        "LOCALk = Constant <value = int64[1] {4}> () LOCALn = Gather (LOCALs, LOCALi) "
        "LOCALp = Concat <axis = 0> (LOCALn, LOCALk) LOCALr = Expand (x, LOCALp)"
    )
    feed = {"x": np.ones((3, 1), np.float32), "c": np.array(True)}
    assert_rewrite(PASS, in_branch(line, "float[N,1]", "float[M,4]"), feeds=[feed])


@pytest.mark.parametrize(
    "graph",
    [
        "g (float[N,1] x, int64[2] p) => (float[A,B] y) { y = Expand (x, p) }",
        "g (float[N,1] x, float[M] z) => (float[A,B] y) <int64[1] one = {1}> "
        "{ m = Shape (z) p = Concat <axis = 0> (one, m) y = Expand (x, p) }",
        "g (float[N,1] x) => (float[A,3] y) <int64[2] p = {1, 3}> { y = Expand (x, p) }",
        # No tensor of two rows is expanded to three.
        "g (float[2,1] x, float[3,4] z) => (float[A,B] y) { p = Shape (z) y = Expand (x, p) }",
    ],
)
def test_left_alone(graph: str) -> None:
    assert_untouched(PASS, text(graph))


@given(batch=st.integers(0, 4), size=st.integers(1, 5), front=st.integers(1, 3))
def test_more_dimensions_than_the_input(batch: int, size: int, front: int) -> None:
    model = text(
        f"g (float[N,1] x) => (float[A,B,C] y) <int64[1] f = {{{front}}}, int64[1] i = {{0}}, "
        f"int64[1] k = {{{size}}}> {{ s = Shape (x) n = Gather (s, i) "
        "p = Concat <axis = 0> (f, n, k) y = Expand (x, p) }"
    )
    feed = {"x": np.arange(batch, dtype=np.float32).reshape(batch, 1)}
    assert_rewrite(PASS, model, feeds=[feed], after=["Expand"])
