"""Graphs with one operator planted among ordinary nodes."""

from __future__ import annotations

import random

import onnx
import pytest
from onnx import ModelProto, parser

from benchmarks.differential.judge import session
from benchmarks.engines.planted_graphs import planted


def probe(graph: str) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {graph}')


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "graph",
    [
        "(float[1,2,5,5] x, int64[4] k) => (float[a,b,c,d] y) { y = Tile (x, k) }",
        "(int64[1] k, float[2,3] x) => (float[2,1] y, int64[2,1] i) { y, i = TopK (x, k) }",
        "(float[2,3] x) => (float[3,2] y) <float[2,3] z = {1,2,3,4,5,6}> { y = Det (x) }",
    ],
)
def test_both_graphs_are_valid_and_differ_by_one_node(graph: str, seed: int) -> None:
    found = planted(probe(graph), random.Random(seed))
    assert found is not None
    for model in (found.model, found.control):
        onnx.checker.check_model(model)  # pyright: ignore[reportUnknownMemberType]
    ordinary = [node.name for node in found.control.graph.node]
    assert [n.name for n in found.model.graph.node if n.name != "planted"] == ordinary
    assert 8 <= len(ordinary) <= 15
    own = next(node for node in found.model.graph.node if node.name == "planted")
    assert tuple(own.output) == found.outputs
    session(found.control)


def test_the_place_is_drawn() -> None:
    model = probe("(float[2,3] x) => (float[2,3] y) { y = Erf (x) }")
    places: set[int] = set()
    for seed in range(20):
        found = planted(model, random.Random(seed))
        assert found is not None
        places.add([n.op_type for n in found.model.graph.node].index("Erf"))
    assert len(places) > 5


@pytest.mark.parametrize(
    "graph",
    [
        "(int64[2] x) => (int64[2] y) { y = Abs (x) }",
        "(float[N] x) => (float[N] y) { y = Abs (x) }",
        "(float[2] x) => (float[2] y) { z = Abs (x) y = Abs (z) }",
    ],
)
def test_what_no_ordinary_tensor_leads_to_is_not_planted(graph: str) -> None:
    assert planted(probe(graph), random.Random(0)) is None
