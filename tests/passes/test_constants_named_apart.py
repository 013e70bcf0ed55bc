"""constants-named-apart: no copy of a constant has the name of another tensor."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass

PASS = "constants-named-apart"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,2] x) => (float[2,2] y) '
ADJACENT = HEAD + (
    "<float z = {1.5}, float z_1 = {2}> { a = Add (x, z) b = Mul (a, z) y = Sub (b, z_1) }"
)


def test_the_shared_constant_gets_another_name_and_others_stay() -> None:
    done = run_pass(PASS, ADJACENT)
    assert {i.name for i in done.after.graph.initializer} == {"z.shared", "z_1"}
    assert [list(node.input) for node in done.after.graph.node] == [
        ["x", "z.shared"],
        ["a", "z.shared"],
        ["b", "z_1"],
    ]
    x = np.array([[1, -2], [0, 4]], np.float32)
    expected = np.array([[1.75, -2.75], [0.25, 6.25]], np.float32)
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], expected)
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


@pytest.mark.parametrize(
    "nodes",
    [
        "a = Add (x, z) z_1 = Mul (a, z) y = Neg (z_1)",
        "a = Add (x, z) b = Mul (a, z) c = Max (b, z) z_2 = Relu (c) y = Neg (z_2)",
        "a = Add (z, z) z_1 = Relu (x) y = Mul (a, z_1)",
    ],
)
def test_what_has_the_name_may_be_any_tensor(nodes: str) -> None:
    after = run_pass(PASS, HEAD + "<float z = {1.5}> { " + nodes + " }").after
    assert [i.name for i in after.graph.initializer] == ["z.shared"]


def test_a_constant_that_a_node_gives_is_renamed_too() -> None:
    nodes = "{ z = Constant <value_float = 2.0> () a = Add (x, z) z_1 = Mul (a, z) y = Neg (z_1) }"
    after = run_pass(PASS, HEAD + nodes).after
    assert after.graph.node[0].output[0] == "z.shared"


def test_the_finding_names_both_and_a_run_repairs_it() -> None:
    model = parser.parse_model(ADJACENT)
    found = [f for f in graphfix.check(model, "rknn2.3") if f.rule == "copy-of-a-constant"]
    assert [(f.severity.value, f.feature, f.removed_by) for f in found] == [
        ("wrong", "model:numbered-constant", (PASS,))
    ]
    assert "copies the constant z " in found[0].message
    assert "under the name z_1" in found[0].message
    result = graphfix.run(model, "rknn2.3")
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert [o.pass_id for o in result.report.outcomes] == [PASS]


def test_what_a_converter_folds_is_shared_like_a_constant() -> None:
    nodes = "{ z = Sqrt (k) a = Add (x, z) z_1 = Mul (a, z) y = Neg (z_1) }"
    model = parser.parse_model(HEAD + "<float k = {4}> " + nodes)
    assert "copy-of-a-constant" in {f.rule for f in graphfix.check(model, "rknn2.3")}
    result = graphfix.run(model, "rknn2.3")
    assert (result.exit_code, result.report.findings_after) == (0, ())


def test_what_is_read_beforehand_alone_is_not_copied() -> None:
    nodes = "{ z = Sqrt (k) a = Add (z, z) z_1 = Add (a, z) y = Mul (x, z_1) }"
    model = parser.parse_model(HEAD + "<float k = {4}> " + nodes)
    assert "copy-of-a-constant" not in {f.rule for f in graphfix.check(model, "rknn2.3")}


def test_a_name_that_is_gone_at_run_time_is_free() -> None:
    nodes = (
        "{ z = Sqrt (k) z_1 = Neg (k) w = Abs (z_1) a = Add (x, z) b = Mul (a, z) y = Sub (b, w) }"
    )
    model = parser.parse_model(HEAD + "<float k = {4}> " + nodes)
    assert "copy-of-a-constant" not in {f.rule for f in graphfix.check(model, "rknn2.3")}
    nodes = nodes.replace("Sub (b, w)", "Sub (b, z_1)")
    left = parser.parse_model(HEAD + "<float k = {4}> " + nodes)
    assert "copy-of-a-constant" in {f.rule for f in graphfix.check(left, "rknn2.3")}
