"""Operators that are no longer there at the opset of the file are written with those that are."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.report import Verdict

AROUND = "t = Softmax <axis = -1> (a) {} z = Squeeze (u, ax) y = Unsqueeze (z, ax)"
IMAGE = "(float[1,1,3,3] a{}) => (float[N,M,K,L] y) <int64[1] ax = {{1}}{}>"
SCALES = ", float[4] s = {1, 1, 2, 2}"
MODELS = {
    "nearest": (IMAGE.format("", SCALES), 'u = Upsample <mode = "nearest"> (t, s)', "Resize"),
    "linear": (IMAGE.format("", SCALES), 'u = Upsample <mode = "linear"> (t, s)', "Resize"),
    "scales as an attribute": (
        IMAGE.format("", ""),
        'u = Upsample <mode = "nearest", scales = [1.0, 1.0, 2.0, 3.0]> (t)',
        "Resize",
    ),
    "scatter": (
        IMAGE.format(", int64[1,1,3,3] i", ""),
        "u = Scatter <axis = 2> (t, i, a)",
        "ScatterElements",
    ),
}
ASKED: tuple[dict[str, Any], ...] = (
    {"target": "trt8.6"},
    {"target": "ort-1.20"},
    {"opset": 17},
    {"opset": 11},
)


def model_of(name: str) -> ModelProto:
    ends, node, _ = MODELS[name]
    body = AROUND.format(node)
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> g {ends} {{ {body} }}')


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_a_deprecated_operator_among_newer_nodes_is_replaced_and_proved(
    name: str, asked: dict[str, Any]
) -> None:
    result = graphfix.run(model_of(name), **asked)
    report = result.report
    assert [f.rule for f in report.findings_before if f.blocks] == ["deprecated-operator"]
    assert MODELS[name][2] in [node.op_type for node in result.model.to_proto().graph.node]
    assert not any(finding.blocks for finding in report.findings_after)
    assert report.verification.status is Verdict.EQUAL
    assert result.exit_code == 0


def test_what_upsample_does_not_define_is_refused_with_the_reason() -> None:
    model = model_of("scales as an attribute")
    model.graph.node[1].attribute[1].floats[2] = 0.5
    result = graphfix.run(model, "trt8.6")
    reasons = {outcome.pass_id: outcome.reason for outcome in result.report.outcomes}
    assert (
        reasons["upsample-to-resize"]
        == "scales must be at least 1, as Upsample defines them; they are [1.0, 1.0, 0.5, 3.0]"
    )
    assert [f.rule for f in result.report.findings_after] == ["deprecated-operator"]
    assert result.exit_code == 1


def test_what_is_after_a_deprecated_operator_is_no_problem_of_its_own() -> None:
    found = graphfix.check(model_of("scales as an attribute"), "ort-1.20")
    assert [(f.rule, f.node.op) for f in found] == [("deprecated-operator", "Upsample")]
    assert found[0].removed_by == ("opset-import-correction", "upsample-to-resize")
