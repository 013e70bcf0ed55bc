"""What ONNX says nothing of is not compared at sizes of 0 and 1."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed
from graphfix.proving.verdict.inside import Inside
from graphfix.report import Verdict


def inside(text: str) -> Inside:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    return Inside(RunnableModel(model))


def test_a_division_by_nothing_inside_is_seen() -> None:
    found = inside(
        "g (float[N] x) => (bool[N] y) <float z = {0}> { d = Sub (x, x)  q = Div (d, d)  "
        "y = Less (q, z) }"
    )
    assert not found.is_meant({"x": np.ones(2, np.float32)})
    assert found.is_meant({"x": np.ones(0, np.float32)})


@pytest.mark.parametrize(
    ("end", "meant"),
    [
        ("y = Neg (m)", True),
        ("y = Relu (m)", False),  # of NaN, ONNX says nothing
        ("e = Exp (m) y = Div (e, e)", False),
    ],
)
def test_the_mean_of_nothing_is_said_where_arithmetic_alone_carries_it(
    end: str, *, meant: bool
) -> None:
    found = inside(
        "g (float[N] x) => (float y) { t = ReduceSum <keepdims = 0> (x) s = Size (x) "
        f"n = Cast <to = 1> (s) m = Div (t, n) {end} }}"
    )
    assert found.is_meant({"x": np.ones(0, np.float32)}) is meant


@pytest.mark.parametrize(("sizes", "meant"), [([0, -1], False), ([0, 3], True), ([2, -1], True)])
def test_a_size_that_is_left_of_nothing_is_seen(sizes: list[int], meant: bool) -> None:
    text = "g (float[N, 3] x, int64[2] s) => (float[A, B] y) { y = Reshape <allowzero = 1> (x, s) }"
    rows = 0 if 0 in sizes else 2
    feed: Feed = {"x": np.ones((rows, 3), np.float32), "s": np.array(sizes)}
    assert inside(text).is_meant(feed) is meant


@pytest.mark.parametrize(("rows", "meant"), [(0, False), (2, True)])
def test_an_element_of_nothing_is_seen(rows: int, meant: bool) -> None:
    """Onnxruntime does not look at the tuples of GatherND where nothing is taken."""
    text = "g (float[N, M] x, int64[1, 1] i) => (float[1, M] y) { y = GatherND (x, i) }"
    feed: Feed = {"x": np.ones((rows, 0), np.float32), "i": np.zeros((1, 1), np.int64)}
    assert inside(text).is_meant(feed) is meant


@pytest.mark.parametrize(("steps", "meant"), [(0, False), (1, True), (2, True)])
@pytest.mark.parametrize(("op", "gates"), [("RNN", 1), ("LSTM", 4)])
def test_a_recurrent_node_without_a_step_is_seen(
    op: str, gates: int, steps: int, *, meant: bool
) -> None:
    """Onnxruntime outputs the last state of an LSTM as memory that no one wrote.

    A GRU without a step takes the whole process with it.
    """
    text = f"""g (float[T, 2, 3] x, float[1, {2 * gates}, 3] w, float[1, {2 * gates}, 2] r) =>
      (float[1, 2, 2] h) {{ y, h = {op} <hidden_size = 2> (x, w, r) }}"""
    feed: Feed = {
        "x": np.ones((steps, 2, 3), np.float32),
        "w": np.ones((1, 2 * gates, 3), np.float32),
        "r": np.ones((1, 2 * gates, 2), np.float32),
    }
    assert inside(text).is_meant(feed) is meant


@pytest.mark.parametrize(("size", "meant"), [(0, False), (2, False), (3, True), (9, True)])
def test_a_condition_after_the_last_element_is_seen(size: int, meant: bool) -> None:
    text = """g (float[1, N] x) => (float[1, M] y) {
      c = Constant <value = bool[4] {1, 0, 1, 0}> ()  y = Compress <axis = 1> (x, c) }"""
    assert inside(text).is_meant({"x": np.ones((1, size), np.float32)}) is meant


@pytest.mark.parametrize(("rows", "meant"), [(0, False), (2, True)])
def test_a_column_that_is_left_out_is_seen(rows: int, *, meant: bool) -> None:
    """Onnxruntime joins what has rows, and the next node reads a table that is too narrow."""
    text = "g (float[N, 1] a, float[M, 1] b) => (float[K, L] y) { y = Concat <axis = -1> (a, b) }"
    feed: Feed = {"a": np.ones((2, 1), np.float32), "b": np.ones((rows, 1), np.float32)}
    assert inside(text).is_meant(feed) is meant


@pytest.mark.parametrize(("rows", "meant"), [(0, False), (3, True)])
def test_a_quantized_tensor_that_is_left_out_is_seen(rows: int, *, meant: bool) -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> '
        "g (uint8[N, M] a, uint8[K, L] b) => (uint8[P, Q] y) <float s = {0.1}, uint8 z = {7}> "
        "{ y = com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, b, s, z) }"
    )
    feed: Feed = {"a": np.ones((rows, 4), np.uint8), "b": np.ones((3, 2), np.uint8)}
    looking = Inside(RunnableModel(model))
    assert looking.has_unchecked
    assert looking.is_meant(feed) is meant
    assert looking.is_written(feed) is meant


@pytest.mark.parametrize(("batch", "meant"), [(2, False), (1, True), (3, True)])
@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_a_skip_for_more_sequences_is_seen(op: str, batch: int, *, meant: bool) -> None:
    """Onnxruntime takes the first sequences of it, or reads after its end."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> '
        "g (float[N, 5, 4] x, float[M, 5, 4] skip, float[4] gamma) => (float[P, 5, 4] y) "
        f"{{ y = com.microsoft.{op} (x, skip, gamma) }}"
    )
    feed: Feed = {
        "x": np.ones((3, 5, 4), np.float32),
        "skip": np.ones((batch, 5, 4), np.float32),
        "gamma": np.ones(4, np.float32),
    }
    looking = Inside(RunnableModel(model))
    assert (looking.has_unchecked, looking.takes(feed)) == (True, meant)
    assert (looking.is_meant(feed), looking.is_written(feed)) == (meant, meant)


def test_a_skip_of_another_unknown_batch_is_repaired() -> None:
    """The batch of one operand is named, that of the other is what a Reshape leaves open."""
    text = """<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
    g (float[B,20] b, float[B,5,4] x) => (float[B,5,4] y, float[B,5,4] w)
    <float[4] gamma = {0.5, 1, 2, 1}, float[4] beta = {0, 1, 0, 1}, float[4] bias = {1, 0, 1, 0}>
    { r = Sigmoid (b)  s = Constant <value = int64[3] {-1, 5, 4}> ()  a = Reshape (r, s)
      y, m, v, w = com.microsoft.SkipLayerNormalization (a, x, gamma, beta, bias) }"""
    result = graphfix.run(parser.parse_model(text), target="trt8")
    (ran,) = (o for o in result.report.outcomes if o.pass_id == "skip-layer-normalization-to-add")
    assert result.exit_code == 0
    assert [site.certificate and site.certificate.status for site in ran.sites] == [Verdict.EQUAL]


def test_what_joins_nothing_writes_all() -> None:
    """A NaN that is not meant is written all the same."""
    looking = inside("g (float[N] x) => (float[N] y) { y = Log (x) }")
    feed: Feed = {"x": np.array([-1], np.float32)}
    assert (looking.has_unchecked, looking.is_written(feed), looking.is_meant(feed)) == (
        False,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("to", "value", "opened"),
    [
        (2, np.inf, True),
        (2, np.nan, True),
        (2, 7.0, False),
        (9, np.inf, False),
        (10, np.inf, False),
    ],
)
def test_no_number_becomes_an_integer(to: int, value: float, *, opened: bool) -> None:
    """ONNX leaves open which integer a Cast returns for it, but not which truth value."""
    kind = {2: "uint8", 9: "bool", 10: "float16"}[to]
    looking = inside(f"g (float[N] x) => ({kind}[N] y) {{ y = Cast <to = {to}> (x) }}")
    assert looking.leaves_open({"x": np.array([1, value], np.float32)}) is opened


def test_a_gather_nd_of_free_sizes_is_repaired() -> None:
    text = """<ir_version: 8, opset_import: ["": 11]>
    g (float[B,C,H,W] x, int64[1,1] i) => (float[1,C,H,W] y) { y = GatherND (x, i) }"""
    assert graphfix.run(parser.parse_model(text), target="trt7.0").exit_code == 0
