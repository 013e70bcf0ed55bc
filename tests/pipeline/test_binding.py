"""Sizes that the user gives: what they are bound in, and what stays as it was."""

from __future__ import annotations

import onnx

import graphfix
from graphfix.report import Verdict


def declared(model: onnx.ModelProto) -> dict[str, list[int | str]]:
    return {
        info.name: [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]
        for info in model.graph.output
    }


def test_an_output_that_says_a_wrong_symbol_is_declared_as_it_is() -> None:
    text = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[batch,3] x) => (float[batch,5] y, float[batch,3] z) <float[1,5] c = {1,2,3,4,5}> {
        m = ReduceMax <keepdims = 0> (x)
        y = Add (c, m)
        z = Relu (x)
    }
    """
    result = graphfix.run(onnx.parser.parse_model(text), "tract0.23", shapes={"x": (2, 3)})
    assert result.report.verification.status is Verdict.EQUAL
    changes = [(change.name, change.old, change.new) for change in result.report.io_changes]
    assert changes == [
        ("x", "[batch, 3]", "[2, 3]"),
        ("y", "[batch, 5]", "[1, 5]"),
        ("z", "[batch, 3]", "[2, 3]"),
    ]
    assert declared(result.model.to_proto()) == {"y": [1, 5], "z": [2, 3]}


def test_an_output_that_says_a_size_of_its_first_export_is_declared_as_it_is() -> None:
    text = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[N,M] x) => (float[N,7] y) { y = Relu (x) }
    """
    result = graphfix.run(onnx.parser.parse_model(text), "tract0.23", shapes={"x": (2, 3)})
    assert result.exit_code == 0
    assert declared(result.model.to_proto()) == {"y": [2, 3]}
