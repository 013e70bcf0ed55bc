"""Ranks and sizes that follow where ONNX's own inference leaves them open."""

from __future__ import annotations

import pytest

from graphfix.analysis.inference import infer_walk
from graphfix.ir.graph import Shape
from graphfix.pipeline.model_files import load
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
LOOP = """g (int64 n, float[N, 3] a) => (y) <bool c = {1}>
{ t = Loop (n, c, a) <body = b (int64 i, bool g, float[N, 3] s) => (bool h, float[%s] r)
  { h = Identity (g)  r = %s }>  y = Neg (t) }"""


def shape_of(text: str, name: str) -> Shape | None:
    """Return the shape of a tensor, inferred node by node."""
    model = load(parse(HEAD + text))
    infer_walk(model.graph)
    (found,) = [t for node in model.graph.nodes for t in node.outputs if t.name == name]
    return found.shape


def test_what_a_loop_carries_keeps_its_shape_where_each_step_keeps_it() -> None:
    assert shape_of(LOOP % ("N, 3", "Neg (s)"), "t") == ("N", 3)


def test_a_size_that_a_step_changes_is_open() -> None:
    assert shape_of(LOOP % ("M, 3", "Concat <axis = 0> (s, s)"), "t") == (None, 3)


def test_a_rank_that_a_step_changes_is_open() -> None:
    assert shape_of(LOOP % ("A, B, C", "Unsqueeze (s, n)"), "t") is None


def test_a_convolution_keeps_the_rank_where_the_kernel_is_open() -> None:
    text = "g (float[N, C, H, W] x, float[O, C, K, K] w) => (y) { t = Conv (x, w) y = Neg (t) }"
    assert shape_of(text, "t") == (None, None, None, None)


def test_a_slice_keeps_the_other_axes() -> None:
    text = (
        "g (float[2, N, A] x, int64[1] s, int64[1] e) => (y) <int64[1] a = {-1}> "
        "{ t = Slice (x, s, e, a) y = Neg (t) }"
    )
    assert shape_of(text, "t") == (2, "N", None)


@pytest.mark.parametrize(
    ("axis", "shape"), [(1, ("B", 3, 4)), (-2, ("B", 3, 4)), (0, (3, "N", 4)), (-1, ("B", "N", 3))]
)
def test_a_constant_k_is_the_size_along_the_axis(axis: int, shape: Shape) -> None:
    text = f"g (float[B, N, 4] x) => (y) <int64[1] k = {{3}}> {{ v, i = TopK <axis = {axis}> (x, k)"
    for name in "vi":
        assert shape_of(f"{text} y = Identity ({name}) }}", name) == shape


def test_a_k_that_a_caller_may_override_is_no_size() -> None:
    text = (
        "g (float[B, N] x, int64[1] k) => (y) <int64[1] k = {5}> { v, i = TopK (x, k) y = Neg (v) }"
    )
    assert shape_of(text, "v") == (None, None)


def test_the_sizes_after_a_topk_follow() -> None:
    """What is gathered at the places that a TopK gives has as many elements as it takes."""
    text = """g (float[N] x) => (y) <int64[1] k = {5}> { v, i = TopK (x, k) g = Gather (x, i)
      y = Shape (g) }"""
    assert shape_of(text, "g") == (5,)
