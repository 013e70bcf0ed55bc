"""Declarations of inner tensors that no longer fit free inputs fold nothing."""

from __future__ import annotations

import pytest
from onnx import parser

import graphfix
from graphfix.ir.model import Model
from graphfix.pipeline.model_types import drop_outdated


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
