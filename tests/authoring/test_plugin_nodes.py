"""Nodes that ONNX does not have: built with their types, and proved with their numpy model."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import graphfix
from graphfix.pipeline.results import Result

PASS = '''
"""Give a gated value to a plugin."""

import numpy as np

from graphfix.authoring import NAMED, InferredType, Known, rewrite


def types(node):
    x = node.need(0)
    return [InferredType(x.elem_type, x.shape), InferredType(7, ())]


def numbers(inputs, attributes):
    x = inputs[0]
    y = x / (1 + np.exp(-x * np.float32(attributes["slope"]))) * FACTOR
    return y.astype(x.dtype), np.array(x.size, np.int64)


@rewrite.pattern
def gated(find, x, slope):
    return x * find.Sigmoid(x * find.number(slope))


@rewrite(
    gated, emits="ACME::Gate Relu", stage=NAMED, knows={"ACME::Gate": Known(types, numbers)}
)
def gate_to_plugin(match, build):
    """Give a gated value to a plugin."""
    y = build.node("ACME::Gate", match["x"], slope=match.number("slope"), plugin_version="1")
    assert y.type_name == "float32" and y.shape == match["x"].shape
    two = build.multi("ACME::Gate", match["x"], outputs=2, slope=1.0)
    assert two[1].type_name == "int64"
    return y
'''
MODEL = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x) => (float[N, 3] o)
<float k = {1.5}> { m = Mul (k, x) s = Sigmoid (m) y = Mul (x, s) o = Neg (y) }"""


def run(tmp_path: Path, factor: str) -> Result:
    source = tmp_path / "gate.py"
    source.write_text(PASS.replace("FACTOR", factor), encoding="utf-8")
    model = onnx.parser.parse_model(MODEL)
    return graphfix.run(
        model, passes=["gate-to-plugin"], pass_files=[source], verify="sites", seed=3
    )


def test_a_plugin_is_proved_by_its_numpy_model(tmp_path: Path) -> None:
    result = run(tmp_path, "1")
    proto = result.model.to_proto()
    assert [(n.domain, n.op_type) for n in proto.graph.node] == [("ACME", "Gate"), ("", "Neg")]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.graph.node[0].attribute}
    assert attributes == {"slope": 1.5, "plugin_version": b"1"}
    assert {imported.domain for imported in proto.opset_import} == {"", "ACME"}
    (site,) = [site for outcome in result.report.outcomes for site in outcome.sites]
    assert site.certificate is not None
    assert str(site.certificate.status) == "equal"


def test_a_plugin_that_computes_something_else_is_rolled_back(tmp_path: Path) -> None:
    result = run(tmp_path, "np.float32(1.01)")
    assert [node.op_type for node in result.model.to_proto().graph.node] == [
        "Mul",
        "Sigmoid",
        "Mul",
        "Neg",
    ]
    assert any("differ" in outcome.reason for outcome in result.report.outcomes)


@pytest.mark.parametrize("slope", [0.5, 2.0])
def test_the_whole_model_is_compared(tmp_path: Path, slope: float) -> None:
    source = tmp_path / "gate.py"
    source.write_text(PASS.replace("FACTOR", "1"), encoding="utf-8")
    model = onnx.parser.parse_model(MODEL.replace("1.5", str(slope)))
    result = graphfix.run(model, passes=["gate-to-plugin"], pass_files=[source])
    assert str(result.report.verification.status) == "equal"
