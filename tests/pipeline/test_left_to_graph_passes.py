"""Rewrites whose results only a graph pass of last resort makes legal."""

from __future__ import annotations

import onnx

import graphfix
from graphfix.report import Status, Verdict

CHOICE = """<ir_version: 8, opset_import: ["" : 17]> g (float[4] x) => (float[4] y) {
  m = ReduceMean <keepdims = 0> (x)
  c = Greater (m, zero)
  y = If (c) <then_branch = t () => (float[4] a) { BODY },
              else_branch = e () => (float[4] b) { b = Neg (x) }> }"""
ZERO = "<float zero = {0.0}> {"


def run(body: str) -> graphfix.Result:
    text = CHOICE.replace("BODY", body).replace("{\n", ZERO + "\n", 1)
    return graphfix.run(
        onnx.parser.parse_model(text), target="ncnn1.0", trust_rules=True, verify="full"
    )


def test_a_choice_becomes_legal_with_its_comparison() -> None:
    result = run("a = Abs (x)")
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert result.report.verification.status is Verdict.EQUAL
    left = {node.op_type for node in result.model.to_proto().graph.node}
    assert not left & {"Greater", "If", "Where"}
    applied = {o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED}
    assert {"bools-to-floats", "if-to-where"} <= applied


def test_what_the_graph_pass_refuses_is_rolled_back() -> None:
    """What Exp gives may be infinite, and infinity times 0 is not 0."""
    result = run("a = Exp (x)")
    assert result.exit_code == 1
    assert [node.op_type for node in result.model.to_proto().graph.node] == [
        *("ReduceMean", "Greater", "If")
    ]
    reasons = {o.pass_id: o.reason for o in result.report.outcomes if o.status is Status.REFUSED}
    assert reasons["if-to-where"].startswith("rolled back: what it needs shows op:Where")
