"""Declarations of inner tensors that no longer fit free inputs fold nothing."""

from __future__ import annotations

import pytest
from onnx import parser

import graphfix
from graphfix.ir.model import Model
from graphfix.pipeline.model_types import drop_outdated, resolve_made_up


def model(inputs: str, declared: str) -> Model:
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g ({inputs}) => (float[2] u) <{declared}>
    {{ t = Relu (x)  s = Shape (t)  u = Cast <to = 1> (s) }}"""
    return Model(parser.parse_model(text))


@pytest.mark.parametrize(
    ("inputs", "declared", "shape"),
    [
        ("float[N, 3] x", "float[2, 3] t", ("N", 3)),
        ("float[N, 3] x", "float[1, 3] t", ("N", 3)),
        ("float[N, M] x", "float[N, 3] t", ("N", "M")),
        ("float[2, 3] x", "float[2, 3] t", None),
        ("float[N, 3] x", "float[N, 3] t", None),
        ("float[N, 3] x", "float[K, 3] t", None),
    ],
)
def test_a_number_in_the_place_of_a_free_size_is_dropped(
    inputs: str, declared: str, shape: tuple[int | str, ...] | None
) -> None:
    read = model(inputs, declared)
    assert drop_outdated(read) is (shape is not None)
    tensor = read.graph.nodes[0].outputs[0]
    assert tensor.shape == (shape or tensor.shape)
    assert [info.name for info in read.to_proto().graph.value_info] == ["t"] * (shape is None)
    assert not drop_outdated(read)


def test_the_size_is_not_folded() -> None:
    found = graphfix.run(model("float[N, 3] x", "float[2, 3] t"), target="trt8", verify="off")
    assert [node.op for node in found.model.nodes()] == ["Relu", "Shape", "Cast"]
    bound = graphfix.run(
        model("float[N, 3] x", "float[2, 3] t"), target="trt8", shapes={"x": (2, 3)}
    )
    assert "Shape" not in [node.op for node in bound.model.nodes()]


@pytest.mark.parametrize(
    ("declared", "first", "second"),
    [
        ("float[unk__0, 3] t, float[unk__1, 3] u", ("N", 3), ("N", 3)),
        ("float[unk__0, unk__7] t, float[unk__1, 3] u", ("N", 3), ("N", 3)),
        ("float[K, 3] t, float[unk__1, 3] u", ("K", 3), ("K", 3)),  # the exporter's own name
        # A declaration that is wrong somewhere leaves its name alone.
        ("float[unk__0, unk__0] t, float[unk__0, 3] u", ("unk__0", "unk__0"), ("unk__0", 3)),
    ],
)
def test_names_that_inference_made_up_are_what_follows_by_now(
    declared: str, first: tuple[int | str, ...], second: tuple[int | str, ...]
) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x) => (float[A, B] y)
    <{declared}> {{ t = Relu (x)  u = Neg (t)  y = Abs (u) }}"""
    read = Model(parser.parse_model(text))
    before = read.to_proto().graph.value_info
    resolve_made_up(read)
    assert [node.outputs[0].shape for node in read.graph.nodes] == [first, second, ("A", "B")]
    assert read.to_proto().graph.value_info == before


def test_names_for_one_size_become_one_where_inference_makes_up_another() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x, int64[2] s) => (float[] y)
    <float[unk__4, unk__5] t, float[unk__7, unk__8] u, float[unk__9, unk__2] v>
    { t = Reshape (x, s)  u = Neg (t)  v = Reshape (x, s)  y = ReduceSum <keepdims = 0> (v) }"""
    read = Model(parser.parse_model(text))
    resolve_made_up(read)
    shapes = [node.outputs[0].shape for node in read.graph.nodes]
    assert shapes[0] == shapes[1] == ("unk__4", "unk__5")
    assert shapes[2] == ("unk__9", "unk__2")  # the same numbers, which inference does not know


def test_what_an_input_calls_its_size_is_its_name() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g
    (float[unk__3, 3] x) => (float[unk__9, 3] y) <float[unk__1, 3] t, float[unk__3, 3] u>
    { t = Relu (x)  u = Neg (t)  y = Abs (u) }"""
    read = Model(parser.parse_model(text))
    resolve_made_up(read)
    shapes = [node.outputs[0].shape for node in read.graph.nodes]
    assert shapes == [("unk__3", 3), ("unk__3", 3), ("unk__9", 3)]


@pytest.mark.parametrize("target", ["trt10.10", "tract0.23", "openvino2026.4"])
def test_sizes_that_are_parted_by_what_is_folded_become_one(target: str) -> None:
    """Ends of a Slice are folded after inference gave each of its sizes a name of its own."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g
    (float[N, S, 8] x, float[M, T, 8] p) => (float[a, b, c] y)
    <int64[1] z = {0}, float[1] half = {4.5}, int64[1] end = {8}, int64 one = {1},
     int64[1] ax = {2}>
    { a = Add (x, p)  f = Floor (half)  m = Cast <to = 7> (f)
      q = Slice (a, z, m, ax)  k = Slice (a, m, end, ax)
      sq = Shape (q)  dq = Gather (sq, one)  sk = Shape (k)  dk = Gather (sk, one)
      e = Equal (dq, dk)
      r = If (e) <then_branch = t () => (float[i, j, k] u) { u = Identity (k) },
                  else_branch = o () => (float[l, m] v) { w = Flatten (k)  v = Relu (w) }>
      y = Add (q, r) }"""
    result = graphfix.run(parser.parse_model(text), target)
    assert [f for f in result.report.findings_after if f.blocks] == []
    assert "If" not in {node.op for node in result.model.nodes()}
    assert result.report.verification.status == "equal"
