"""expand-shape-to-constant: a size of the input needs no expanding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, numpy_helper

from graphfix.testing import assert_rewrite
from tests.passes.shape_models import text

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


@given(batch=st.integers(0, 4), size=st.integers(1, 5), front=st.integers(1, 3))
def test_more_dimensions_than_the_input(batch: int, size: int, front: int) -> None:
    model = text(
        f"g (float[N,1] x) => (float[A,B,C] y) <int64[1] f = {{{front}}}, int64[1] i = {{0}}, "
        f"int64[1] k = {{{size}}}> {{ s = Shape (x) n = Gather (s, i) "
        "p = Concat <axis = 0> (f, n, k) y = Expand (x, p) }"
    )
    feed = {"x": np.arange(batch, dtype=np.float32).reshape(batch, 1)}
    assert_rewrite(PASS, model, feeds=[feed], after=["Expand"])
