"""bools-to-floats: comparisons, logic and choices in the floats 0 and 1."""

import numpy as np
import pytest
from onnx import TensorProto, parser

import graphfix
from graphfix.report import Status
from graphfix.testing import assert_rewrite, run_pass

PASS = "bools-to-floats"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
XY = HEAD + "(float[2,4] x, float[4] y) => (float[2,4] z) "
X = np.array([[-2, 0, 3e38, 1], [1e-30, -0.5, 7, -3e38]], np.float32)
Y = np.array([-2, 1, -3e38, 0.5], np.float32)
FEEDS = [{"x": X, "y": Y}]
CHOSEN = " z = Where (c, x, y) }"


@pytest.mark.parametrize("op", ["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])
def test_comparisons_and_choices(op: str) -> None:
    done = assert_rewrite(PASS, XY + f"{{ c = {op} (x, y)" + CHOSEN, feeds=FEEDS)
    left = {node.op_type for node in done.after.graph.node}
    assert not left & {op, "Where", "Cast"}


@pytest.mark.parametrize(
    "logic", ["And (a, b)", "Or (a, b)", "Xor (a, b)", "Equal (a, b)", "And (n, b)"]
)
def test_logic(logic: str) -> None:
    graph = (
        XY
        + "<float one = {1}> { a = Less (x, y) b = Greater (x, one) n = Not (a) c = "
        + logic
        + CHOSEN
    )
    done = assert_rewrite(PASS, graph, feeds=FEEDS)
    left = {node.op_type for node in done.after.graph.node}
    assert not left & {"Less", "Greater", "And", "Or", "Xor", "Equal", "Not", "Where"}


def test_casts_moves_and_constants() -> None:
    graph = XY + (
        "<bool[4] k = {1, 0, 1, 0}, int64[2] s = {4, 2}, int64[2] t = {2, 4}> "
        "{ a = Cast <to = 9> (x) r = Reshape (a, s) q = Reshape (r, t) c = And (q, k) "
        "f = Cast <to = 1> (c) z = Add (f, y) }"
    )
    done = assert_rewrite(PASS, graph, feeds=FEEDS)
    types = {i.name: i.data_type for i in done.after.graph.initializer}
    assert TensorProto.BOOL not in types.values()
    assert not [node for node in done.after.graph.node if node.op_type == "Cast"]


def test_a_computed_choice_is_said_not_to_overflow() -> None:
    graph = XY + "{ c = Less (x, y) m = Mul (x, x) z = Where (c, x, m) }"
    done = run_pass(PASS, graph)
    notes = [site.note for outcome in done.outcomes for site in outcome.sites]
    assert "given that nothing overflows where it is not chosen" in notes
    plain = run_pass(PASS, XY + "{ c = Less (x, y) z = Where (c, x, y) }")
    assert not any(site.note for outcome in plain.outcomes for site in outcome.sites)


def test_inputs_and_outputs_keep_their_type() -> None:
    graph = HEAD + "(bool[2] a, bool[2] b) => (bool[2] c) { d = Not (a) c = And (d, b) }"
    done = run_pass(PASS, graph)
    assert [n.op_type for n in done.after.graph.node] == ["Cast", "Sub", "Cast", "Mul", "Cast"]
    assert done.after.graph.output[0].type.tensor_type.elem_type == TensorProto.BOOL


def test_a_guarded_quotient_is_divided_by_1_where_its_divisor_is_0() -> None:
    graph = XY + "<float k = {0}> { c = Equal (y, k) q = Div (x, y) z = Where (c, k, q) }"
    feeds = [{"x": X, "y": np.array([0, 2, -1, 0], np.float32)}]
    done = assert_rewrite(PASS, graph, feeds=feeds)
    assert [n.op_type for n in done.after.graph.node].count("Div") == 1


def test_ncnn_takes_what_comes_out() -> None:
    model = parser.parse_model(XY + "{ c = Less (x, y)" + CHOSEN)
    assert {f.feature for f in graphfix.check(model, "ncnn1.0")} == {"op:Less", "op:Where"}
    result = graphfix.run(model, "ncnn1.0", trust_rules=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
    applied = [o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED]
    assert applied == [PASS]


def test_a_branch_on_what_the_caller_gives_is_refused() -> None:
    text = HEAD + (
        "(bool c, float[2] x) => (float[2] z) { z = If (c) <then_branch = t () => (float[2] p) "
        "{ p = Relu (x) }, else_branch = e () => (float[2] q) { q = Neg (x) }> }"
    )
    assert run_pass(PASS, text).reasons == ["If reads c"]
