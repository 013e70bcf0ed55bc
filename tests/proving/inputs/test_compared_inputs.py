"""Inputs that a node compares have equal elements in some samples, and others in all."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.report import Verdict


def model(graph: str, opset: int = 17) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}')


def shares(graph: str) -> list[float]:
    """Return which part of the elements is equal, for six samples."""
    maker = FeedMaker(model(graph))
    feeds = [maker.draw(sample) for sample in range(6)]
    return [float(np.mean(np.equal(np.asarray(f["a"]), np.asarray(f["b"])))) for f in feeds]


@pytest.mark.parametrize("kind", ["float", "float16", "double", "int64"])
@pytest.mark.parametrize("op", ["Equal", "Less", "GreaterOrEqual"])
def test_two_inputs_that_are_compared_meet_every_second_time(op: str, kind: str) -> None:
    graph = f"({kind}[40] a, {kind}[40] b) => (bool[40] y) {{ y = {op} (a, b) }}"
    found = shares(graph)
    assert all(0.05 < share < 0.9 for share in found[::2])
    assert all(share < 0.2 for share in found[1::2])


def test_inputs_meet_through_what_only_moves_them_and_where_one_is_broadcast() -> None:
    maker = FeedMaker(
        model(
            "(float[6,5] a, float[1,6] b) => (bool[5,6] y) "
            "{ t = Transpose <perm = [1, 0]> (a) y = Less (t, b) }"
        )
    )
    for sample in (0, 2, 4):
        feed = maker.draw(sample)
        same = np.asarray(feed["b"]) == np.asarray(feed["a"]).T
        assert 0 < same.sum() < same.size


def test_single_numbers_are_equal_every_second_time() -> None:
    assert shares("(float a, float b) => (bool y) { y = Equal (a, b) }") == [1, 0, 1, 0, 1, 0]


def test_an_input_stays_inside_of_the_domain_of_its_use() -> None:
    graph = (
        "(float[30] a, float[30] b) => (bool[30] y, float[30] z) { y = Equal (a, b) z = Log (b) }"
    )
    maker = FeedMaker(model(graph))
    feed = maker.draw(0)
    assert (np.asarray(feed["b"]) > 0).all()
    assert (np.asarray(feed["a"]) == np.asarray(feed["b"])).any()


def test_a_float_takes_the_number_that_it_is_compared_with_among_others() -> None:
    maker = FeedMaker(
        model(
            "(float[60] a, int64[60] n) => (bool[60] y, bool[60] z) <float k = {0.37}> "
            "{ y = LessOrEqual (a, k) f = Cast <to = 1> (n) half = Constant <value_float = 0.5> () "
            "z = Equal (f, half) }"
        )
    )
    counts = [int((np.asarray(maker.draw(n)["a"]) == np.float32(0.37)).sum()) for n in range(4)]
    assert all(0 < count < 40 for count in counts[::2])
    assert counts[1::2] == [0, 0]


@pytest.mark.parametrize("kind", ["float", "float16", "double"])
def test_equal_of_floats_is_proved_across_opsets(kind: str) -> None:
    graph = f"({kind}[2,3] a, {kind}[2,3] b) => (bool[2,3] y) {{ y = Equal (a, b) }}"
    result = graphfix.run(model(graph, 9), opset=13)
    assert result.report.verification.status is Verdict.EQUAL
    assert result.exit_code == 0
