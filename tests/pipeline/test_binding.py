"""Sizes that the user gives: what they are bound in, and what stays as it was."""

from __future__ import annotations

import onnx

import graphfix
from graphfix.report import Verdict


def test_an_output_that_says_a_wrong_size_keeps_its_symbol() -> None:
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
    y, z = result.model.to_proto().graph.output
    assert [dim.dim_param or dim.dim_value for dim in y.type.tensor_type.shape.dim] == ["batch", 5]
    assert [dim.dim_value for dim in z.type.tensor_type.shape.dim] == [2, 3]
    assert [change.name for change in result.report.io_changes] == ["x", "z"]
