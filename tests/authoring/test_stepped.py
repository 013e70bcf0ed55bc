"""What is certainly whole and limited is found, with the nodes that make it so."""

from __future__ import annotations

import onnx
import pytest

from graphfix.authoring.evidence import is_stepped, moved_inputs, stepping_nodes
from graphfix.ir.model import Model
from tests.passes.lowering_models import written

CLIP = (
    "@r = Round (x)\n@k = Constant <value = float {3}> ()\n@m = Add (@r, @k)\n"
    "@low = Constant <value = float {0}> ()\n@high = Constant <value = float {255}> ()\n"
    "@c = Clip (@m, @low, @high)\n"
)


def model(body: str) -> Model:
    text = written(body, "float[4] x", "float[4]")
    return Model(onnx.parser.parse_model(text))


@pytest.mark.parametrize("moves", ["@y = Identity (@c)", "@t = Neg (x)\n@y = Reshape (@c, @s)"])
def test_found(moves: str) -> None:
    shape = "@s = Constant <value = int64[1] {4}> ()\n"
    (result,) = model(shape + CLIP + moves).graph.outputs
    made = {node.op for node in stepping_nodes(result)}
    assert {"Round", "Add", "Clip"} <= made
    assert is_stepped(result, (0, 255))
    assert not is_stepped(result, (0, 254))
    assert not is_stepped(result, (-128, 127))


@pytest.mark.parametrize(
    "body",
    [
        CLIP.replace("Round (x)", "Sqrt (x)") + "@y = Identity (@c)",
        CLIP.replace("{3}", "{3.5}") + "@y = Identity (@c)",
        CLIP.replace("{255}", "{255.5}") + "@y = Identity (@c)",
        CLIP.replace("(@m, @low, @high)", "(@m, @low)") + "@y = Identity (@c)",
        CLIP + "@y = Neg (@c)",
        "@y = Round (x)",
        "@y = Identity (x)",
    ],
)
def test_not_found(body: str) -> None:
    (result,) = model(body).graph.outputs
    assert not stepping_nodes(result)


def test_places_of_what_is_moved() -> None:
    nodes = {
        node.op: node
        for node in model(
            "@s = Concat <axis = 0> (x, x)\n@p = Constant <value = int64[2] {0, -4}> ()\n"
            "@y = Pad (@s, @p)"
        ).graph.nodes
    }
    assert list(moved_inputs(nodes["Concat"])) == [0, 1]
    assert list(moved_inputs(nodes["Pad"])) == [0, 2]
    assert not moved_inputs(nodes["Constant"])
