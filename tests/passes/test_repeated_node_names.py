"""repeated-node-names: each node of a graph gets a name of its own."""

import numpy as np
import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.report import Severity, Status
from graphfix.testing import outputs_of, run_pass

PASS = "repeated-node-names"
HEAD = '<ir_version: 8, opset_import: ["" : 13]> g '
TWICE = HEAD + (
    "(float[2] x) => (float[2] y) "
    "{ [a] h = Relu (x) [a_1] i = Neg (h) [a] j = Abs (i) [a] y = Neg (j) }"
)
BODY = HEAD + (
    "(float[2] x, bool c) => (float[2] y) { [a] y = If (c) "
    "<then_branch = t () => (float[2] p) { [b] q = Abs (x) [b] p = Neg (q) }, "
    "else_branch = e () => (float[2] r) { [b] r = Neg (x) }> }"
)


def names_of(model: ModelProto) -> list[str]:
    return [node.name for node in model.graph.node]


def test_later_nodes_get_free_names_and_onnxruntime_loads_the_file() -> None:
    done = run_pass(PASS, TWICE)
    names = names_of(done.after)
    assert names[:2] == ["a", "a_1"]
    assert len(set(names)) == 4
    assert [o.name for o in done.after.graph.output] == ["y"]
    result = outputs_of(done.after, {"x": np.array([-1, 2], np.float32)})["y"]
    np.testing.assert_array_equal(result, np.array([0, -2], np.float32))
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


def test_each_body_has_names_of_its_own() -> None:
    after = run_pass(PASS, BODY).after
    subgraphs = {a.name: [n.name for n in a.g.node] for a in after.graph.node[0].attribute}
    assert subgraphs["then_branch"][0] == "b"
    assert subgraphs["then_branch"][1] != "b"
    assert subgraphs["else_branch"] == ["b"]


@pytest.mark.parametrize(("target", "severity"), [("ort-1.20", "reject"), ("trt8.6", "note")])
def test_the_finding_names_both_nodes(target: str, severity: str) -> None:
    found = [f for f in graphfix.check(parser.parse_model(TWICE), target) if f.node.name == "a"]
    assert {(f.rule, f.severity) for f in found} == {("repeated-node-name", Severity(severity))}
    assert found[0].message == (
        "two nodes of main are called a: Relu, which gives h, and Abs, which gives j"
    )
    assert found[0].removed_by == (PASS,)


@pytest.mark.parametrize("target", ["ort", "ort-1.20"])
def test_a_run_repairs_it_where_the_engine_minds(target: str) -> None:
    result = graphfix.run(parser.parse_model(TWICE), target)
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert [o.pass_id for o in result.report.outcomes] == [PASS]


def test_a_run_leaves_it_where_the_engine_does_not() -> None:
    result = graphfix.run(parser.parse_model(TWICE), "trt8.6")
    assert (result.exit_code, result.report.outcomes) == (0, ())
