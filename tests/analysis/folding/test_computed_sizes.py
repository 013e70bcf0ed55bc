"""Sizes that follow from values which shape inference does not work out."""

from __future__ import annotations

import onnx

from graphfix.analysis.folding.known_values import infer_computed_sizes
from graphfix.analysis.inference import infer_model
from graphfix.ir.graph import Node
from graphfix.ir.model import Model


def _model(body: str, inputs: str, weights: str, output: str) -> Model:
    text = f'<ir_version: 8, opset_import: ["" : 17]> g ({inputs}) => ({output}) <{weights}> '
    model = Model(onnx.parser.parse_model(f"{text} {{ {body} }}"))
    infer_model(model)
    return model


def _of(model: Model, op: str) -> Node:
    found: Node = next(n for graph in model.graphs() for n in graph.nodes if n.op == op)
    return found


# Pads as PyTorch exports them: pairs in reverse order, turned around as a matrix.
TURNED = (
    "m = Reshape (flat, two) r = Slice (m, minus, least, zero, minus) t = Transpose (r) "
    "p = Reshape (t, all)"
)
WEIGHTS = (
    "int64[8] flat = {3, 4, 1, 2, 0, 0, 0, 0}, int64[2] two = {-1, 2}, int64[1] minus = {-1}, "
    "int64[1] least = {-9223372036854775807}, int64[1] zero = {0}, int64[1] all = {-1}"
)


def test_pads_turned_around_as_a_matrix() -> None:
    body = f"{TURNED} y = Pad (x, p) z = Relu (y)"
    model = _model(body, "float[N,3,8,8] x", WEIGHTS, "float[A,B,C,D] z")
    pad = _of(model, "Pad").outputs[0]
    assert not all(isinstance(size, int) for size in (pad.shape or (None,))[1:])
    infer_computed_sizes(model)
    assert pad.shape is not None
    assert pad.shape[1:] == (3, 11, 15)
    relu = _of(model, "Relu").outputs[0]
    assert relu.shape is not None
    assert relu.shape[1:] == (3, 11, 15)


def test_pads_that_the_caller_gives_say_nothing() -> None:
    model = _model(
        f"{TURNED.replace('flat', 'given')} y = Pad (x, p)",
        "float[1,3,8,8] x, int64[8] given",
        WEIGHTS,
        "float[A,B,C,D] y",
    )
    infer_computed_sizes(model)
    shape = _of(model, "Pad").outputs[0].shape
    assert shape is None or not any(isinstance(size, int) for size in shape)


def test_inside_a_branch() -> None:
    body = "y = If (c) <then_branch = t () => (float[A,B,C,D] u) { "
    body += f"{TURNED} u = Pad (x, p) }}, else_branch = e () => (float[A,B,C,D] v) "
    body += "{ v = Identity (x) }>"
    model = _model(body, "bool c, float[1,3,8,8] x", WEIGHTS, "float[A,B,C,D] y")
    infer_computed_sizes(model)
    assert _of(model, "Pad").outputs[0].shape == (1, 3, 11, 15)
