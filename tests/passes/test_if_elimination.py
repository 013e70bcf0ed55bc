"""if-elimination: the branch that is taken, in place of the If."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from graphfix.report import Status
from graphfix.testing import assert_rewrite, run_pass
from tests.passes.shape_models import text

PASS = "if-elimination"
X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


def choosing(
    flag: int, then: str, other: str, before: str = "", opset: int = 17
) -> onnx.ModelProto:
    return text(
        f"g (float[2,3] x, bool d) => (float[2,3] y) <bool c = {{{flag}}}, float k = {{2}}> "
        f"{{ {before} y = If (c) <then_branch = t () => (float[2,3] a) {{ {then} }}, "
        f"else_branch = e () => (float[2,3] a) {{ {other} }}> }}",
        opset,
    )


def feeds() -> list[dict[str, Any]]:
    return [{"x": X, "d": np.array(flag)} for flag in (True, False)]


@pytest.mark.parametrize("opset", [7, 11, 13, 17, 21])
@pytest.mark.parametrize(("flag", "after"), [(1, ["Relu", "Neg"]), (0, ["Abs"])])
def test_each_branch(opset: int, flag: int, after: list[str]) -> None:
    model = choosing(flag, "b = Relu (x) a = Neg (b)", "a = Abs (x)", opset=opset)
    done = assert_rewrite(PASS, model, feeds=feeds(), after=after)
    assert done.after.graph.node[-1].output[0] == "y"


def test_a_branch_that_gives_a_captured_value() -> None:
    model = text(
        "g (float[2,3] x) => (float[2,3] y, float[2,3] z) <bool c = {1}> { b = Neg (x) "
        "i = If (c) <then_branch = t () => (float[2,3] a) { a = Identity (b) }, "
        "else_branch = e () => (float[2,3] a) { a = Abs (x) }> y = Relu (i) z = Neg (i) }"
    )
    for attribute in model.graph.node[1].attribute:
        if attribute.name == "then_branch":
            del attribute.g.node[:]
            attribute.g.output[0].name = "b"
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED)
    assert done.ops == ["Neg", "Relu", "Neg"]
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]


def test_names_that_both_branches_and_other_ifs_use() -> None:
    branch = "{ b = Relu (x) a = Neg (b) }"
    other = "{ b = Abs (x) a = Neg (b) }"
    model = text(
        "g (float[2,3] x, bool d) => (float[2,3] y) <bool c = {1}, bool n = {0}> "
        f"{{ p = If (c) <then_branch = t () => (float[2,3] a) {branch}, "
        f"else_branch = e () => (float[2,3] a) {other}> "
        f"q = If (n) <then_branch = t () => (float[2,3] a) {branch}, "
        f"else_branch = e () => (float[2,3] a) {other}> "
        f"r = If (d) <then_branch = t () => (float[2,3] a) {branch}, "
        f"else_branch = e () => (float[2,3] a) {other}> s = Add (p, q) y = Add (s, r) }}"
    )
    done = assert_rewrite(
        PASS, model, feeds=feeds(), after=["Relu", "Neg", "Abs", "Neg", "If", "Add", "Add"]
    )
    defined = [name for node in done.after.graph.node for name in node.output]
    assert len(defined) == len(set(defined))


def test_nested() -> None:
    inner = (
        "b = Mul (x, k) m = Not (c) a = If (m) <then_branch = t2 () => "
        "(float[2,3] f) { f = Neg (x) }, "
        "else_branch = e2 () => (float[2,3] f) { g2 = Abs (b) f = If (d) "
        "<then_branch = t3 () => (float[2,3] h) { h = Add (b, g2) }, "
        "else_branch = e3 () => (float[2,3] h) { h = Sub (g2, x) }> }>"
    )
    model = choosing(1, inner, "a = Abs (x)")
    done = assert_rewrite(PASS, model, feeds=feeds(), after=["Mul", "Abs", "If"])
    assert len(done.with_status(Status.APPLIED)[0].sites) == 2


def test_the_condition_of_an_exported_squeeze() -> None:
    model = text(
        "g (float[2,1,3] x) => (float[2,3] y) <int64 i = {1}, int64 one = {1}, int64[1] ax = {1}> "
        "{ s = Shape (x) n = Gather (s, i) c = Equal (n, one) "
        "y = If (c) <then_branch = t () => (float[2,3] a) { a = Squeeze (x, ax) }, "
        "else_branch = e () => (float[2,1,3] b) { b = Identity (x) }> }"
    )
    feed = {"x": X.reshape(2, 1, 3)}
    done = run_pass(PASS, model)
    assert "If" not in done.ops
    assert "Squeeze" in done.ops
    from graphfix.testing import outputs_of

    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], X)


def test_in_a_local_function() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17, "f" : 1]>\n'
        "g (float[2,3] x) => (float[2,3] y) { y = f.pick (x) }\n"
        '<domain: "f", opset_import: ["" : 17]>\n'
        "pick (v) => (w) { c = Constant <value = bool {1}> () "
        "w = If (c) <then_branch = t () => (float[2,3] a) { a = Neg (v) }, "
        "else_branch = e () => (float[2,3] b) { b = Abs (v) }> }"
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}])
    assert [n.op_type for n in done.after.functions[0].node if n.op_type != "Constant"] == ["Neg"]


@given(flags=st.lists(st.booleans(), min_size=1, max_size=4))
def test_chains(flags: list[bool]) -> None:
    nodes: list[onnx.NodeProto] = []
    last = "x"
    for index, _ in enumerate(flags):
        branches: dict[str, Any] = {}
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs")):
            out = helper.make_tensor_value_info("a", 1, [2, 3])
            branches[name] = helper.make_graph(
                [helper.make_node(op, [last], ["a"])], "b", [], [out]
            )
        result = f"y{index}"
        nodes.append(helper.make_node("If", [f"c{index}"], [result], **branches))
        last = result
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, [2, 3])],
        [helper.make_tensor_value_info(last, 1, [2, 3])],
        [numpy_helper.from_array(np.array(flag), f"c{i}") for i, flag in enumerate(flags)],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    after = ["Neg" if flag else "Abs" for flag in flags]
    assert_rewrite(PASS, model, feeds=[{"x": X}], after=after)
