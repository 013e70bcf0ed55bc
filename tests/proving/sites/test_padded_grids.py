"""A grid is drawn beyond its image as well: what lies there depends on the padding."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from graphfix import EXACT, rewrite
from graphfix.authoring import Builder, NodeView, Value

TEXT = """<ir_version: 8, opset_import: ["" : 16]>
g (float[2, 3, H, W] x, float[2, 4, 3, 2] q) => (float[2, 3, 4, 3] y)
{ y = GridSample <mode = "nearest", padding_mode = "%s"> (x, q) }"""


@rewrite("GridSample", removes="op:GridSample", emits="GridSample", accuracy=EXACT, stage="named")
def padded_with_zeros(node: NodeView, build: Builder) -> Value:
    """Take zeros for what lies outside, whatever the node says."""
    return build.GridSample(node.need(0), node.need(1), mode="nearest", padding_mode="zeros")


@pytest.mark.parametrize("padding", ["border", "reflection"])
def test_another_padding_is_noticed(padding: str) -> None:
    model = onnx.parser.parse_model(TEXT % padding)
    result = graphfix.run(model, passes=[padded_with_zeros], verify="sites")
    (outcome,) = result.report.outcomes
    assert outcome.status == "failed"
    assert "computes something else" in outcome.reason


def test_the_same_padding_is_equal() -> None:
    model = onnx.parser.parse_model(TEXT % "zeros")
    result = graphfix.run(model, passes=[padded_with_zeros], verify="sites")
    (outcome,) = result.report.outcomes
    assert outcome.status == "applied"
