"""A free dimension that runs with one size alone is said, with the constant that has it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.cli import main
from graphfix.report import Finding, Severity


def model_of(graph: str, opset: int = 17) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}')


def baked(model: ModelProto, target: str = "trt8.6", **asked: object) -> list[Finding]:
    found = graphfix.check(model, target, **asked)  # type: ignore[arg-type]
    return [f for f in found if f.rule == "baked-size"]


BAKED = (
    "(float[N,3] x) => (float[1,3] y) <int64[2] s = {1, 3}> { h = Relu (x) [r] y = Reshape (h, s) }"
)


@pytest.mark.parametrize("target", ["trt7.0", "trt8.6", "trt10.10", "ort-1.20"])
def test_the_dimension_the_size_the_node_and_the_constant_are_named(target: str) -> None:
    (found,) = baked(model_of(BAKED), target)
    assert found.message == (
        "dimension 0 (N) of the input x is free, and runs with the size 1 alone: Reshape 'r' has "
        "the shape (1, 3) of the initializer s baked in; say --shape x=1x3, or free it: "
        "graphfix edit MODEL.onnx --shape x=1x3 --dynamic x=Nx3 -o OUT.onnx"
    )
    assert (found.severity, found.certain, found.node.name) == (Severity.NOTE, True, "r")


def test_what_it_advises_is_enough() -> None:
    assert baked(model_of(BAKED), shapes={"x": [1, 3]}) == []


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (
            "(float[a,4,H] x) => (float[2,6] y) <int64[2] s = {2, 6}> "
            "{ t = Relu (x) c = ReduceMax <axes = [2], keepdims = 0> (t) y = Reshape (c, s) }",
            "dimension 0 (a) of the input x is free, and runs with the size 3 alone: Reshape has "
            "the shape (2, 6) of the initializer s baked in; say --shape 'x=3x4x<H>' with sizes "
            "of your own, or free it: graphfix edit MODEL.onnx",
        ),
        (
            "(float[?,6] x) => (float[2,9] y) <int64[2] s = {2, 9}> { y = Reshape (x, s) }",
            "dimension 0 of the input x is free, and runs with the size 3 alone",
        ),
        (
            "(float[4,N] x) => (float[4,2,3] y) <int64[3] s = {0, 2, 3}> { y = Reshape (x, s) }",
            "dimension 1 (N) of the input x is free, and runs with the size 6 alone",
        ),
    ],
)
def test_the_size_follows_from_the_number_of_elements(graph: str, said: str) -> None:
    (found,) = baked(model_of(graph))
    assert found.message.startswith(said)


@pytest.mark.parametrize(
    "graph",
    [
        "(float[N,3] x) => (float[A,B] y) <int64[2] s = {-1, 3}> { y = Reshape (x, s) }",
        "(float[N,3] x) => (float[A,B] y) <int64[2] s = {0, 3}> { y = Reshape (x, s) }",
        "(float[N,M] x) => (float[A,B] y) <int64[2] s = {2, 3}> { y = Reshape (x, s) }",
        "(float[2,3] x) => (float[3,2] y) <int64[2] s = {3, 2}> { y = Reshape (x, s) }",
        "(float[N,3] x, bool c) => (float[A,B] y) { y = If (c) "
        "<then_branch = t () => (float[1,3] a) { s = Constant <value_ints = [1, 3]> () "
        "a = Reshape (x, s) }, else_branch = e () => (float[N,3] b) { b = Relu (x) }> }",
        "(float[N,3] x, int64[2] s) => (float[A,B] y) { y = Reshape (x, s) }",
        "(float[N,3] x) => (float[A,B] y) { s = Constant <value_ints = [-1, 1]> () "
        "y = Reshape (x, s) }",
        "(float[N,0] x) => (float[A,B] y) <int64[2] s = {2, 0}> "
        "{ y = Reshape <allowzero = 1> (x, s) }",
        "(float[3,2] x) => (float[K] y) <int64[1] s = {3}> "
        "{ n = NonZero (x) [r] k = Slice (n, s, s) y0 = Reshape (k, s) y = Cast <to = 1> (y0) }",
    ],
)
def test_where_other_sizes_run_nothing_is_said(graph: str) -> None:
    assert baked(model_of(graph)) == []


def test_a_constant_node_counts_too_and_the_model_runs_with_that_size() -> None:
    graph = (
        "(float[N,4] x) => (float[2,6] y) "
        "{ s = Constant <value_ints = [2, 6]> () y = Reshape (x, s) }"
    )
    (found,) = baked(model_of(graph))
    assert "runs with the size 3 alone" in found.message
    from graphfix.testing import outputs_of

    out = outputs_of(model_of(graph), {"x": np.zeros((3, 4), np.float32)})
    assert out["y"].shape == (2, 6)
    with pytest.raises(Exception, match="cannot be reshaped"):
        outputs_of(model_of(graph), {"x": np.zeros((2, 4), np.float32)})


@pytest.mark.parametrize(
    "text",
    [
        "(float[N,4] x) => (float[M,2,2] y) <int64[3] s = {1, 2, 2}> { y = Reshape (x, s) }",
        "(float[N,4] x, float[N,4] z) => (float[M,2,2] y) <int64[3] s = {1, 2, 2}> "
        "{ a = Add (x, z) y = Reshape (a, s) }",
    ],
)
def test_the_command_that_is_named_frees_the_size(text: str, tmp_path: Path) -> None:
    path, out = tmp_path / "a b.onnx", tmp_path / "OUT.onnx"
    path.write_bytes(model_of(text).SerializeToString())
    (found,) = [f for f in graphfix.check(str(path), "trt8.6") if f.rule == "baked-size"]
    words = shlex.split(found.message.rpartition("or free it: ")[2])
    assert words[0] == "graphfix"
    assert main([*words[1:-1], str(out)]) == 0
    made = onnx.ModelProto.FromString(out.read_bytes())
    assert [d.dim_param for d in made.graph.input[0].type.tensor_type.shape.dim] == ["N", ""]
    assert [f for f in graphfix.check(str(out), "trt8.6") if f.rule == "baked-size"] == []
