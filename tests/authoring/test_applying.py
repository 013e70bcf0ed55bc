"""A site goes in whole: names survive, consumers in every scope follow, dead producers go."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix import EXACT, Refuse, rewrite
from graphfix.authoring.building import Builder
from graphfix.ir.views import NodeView, Value
from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass

X = {"x": np.array([[-1.5, 0.0, 2.0]], np.float32)}


@rewrite("Neg", emits=("Mul",), accuracy=EXACT)
def neg_to_mul(node: NodeView, build: Builder) -> Value:
    """Replace Neg by Mul."""
    return build.Mul(node.need(0), -1)


@rewrite("Identity", accuracy=EXACT)
def drop_identity(node: NodeView, build: Builder) -> Value:
    """Return the input itself."""
    return node.need(0)


def test_the_replaced_output_keeps_its_name() -> None:
    done = assert_rewrite(
        neg_to_mul,
        '<ir_version: 8, opset_import: ["": 17]>'
        "g (float[1,3] x) => (float[1,3] y) { t = Neg (x)  y = Relu (t) }",
        feeds=[X],
        after=["Mul", "Relu"],
    )
    assert done.after.graph.node[0].output[0] == "t"


def test_an_existing_value_for_a_graph_output_gets_an_identity() -> None:
    done = run_pass(
        drop_identity,
        '<ir_version: 8, opset_import: ["": 17]>'
        "g (float[1,3] x) => (float[1,3] y, float[1,3] z)"
        "{ a = Relu (x)  y = Identity (a)  t = Identity (a)  z = Neg (t) }",
    )
    assert done.ops == ["Relu", "Identity", "Neg"]
    assert [o.name for o in done.after.graph.output] == ["y", "z"]
    expected = outputs_of(done.before, X)
    actual = outputs_of(done.after, X)
    assert all(np.array_equal(expected[k], actual[k]) for k in expected)


def test_consumers_in_nested_scopes_and_body_outputs_follow() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (bool c, float[1,3] x) => (float[1,3] y) {
      t = Identity (x)
      y = If (c) <
        then_branch = a () => (float[1,3] p) { p = Neg (t) },
        else_branch = b () => (float[1,3] q) { s = Neg (t)  q = Identity (s) }
      >
    }"""
    done = run_pass(drop_identity, text)
    assert done.ops == ["If"]
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    for c in (True, False):
        feed = {"c": np.array(c), **X}
        assert np.array_equal(outputs_of(done.before, feed)["y"], outputs_of(done.after, feed)["y"])


def test_a_rewrite_reaches_subgraphs_and_functions() -> None:
    text = """<ir_version: 8, opset_import: ["": 17, "d": 1]>
    g (bool c, float[1,3] x) => (float[1,3] y, float[1,3] z) {
      y = If (c) <
        then_branch = a () => (float[1,3] p) { p = Neg (x) },
        else_branch = b () => (float[1,3] q) { q = Relu (x) }
      >
      z = d.f (x)
    }
    <domain: "d", opset_import: ["": 17]>
    f (v) => (w) { w = Neg (v) }"""
    done = run_pass(neg_to_mul, text)
    (applied,) = done.with_status(Status.APPLIED)
    assert {site.node.scope for site in applied.sites} == {"main/If.then_branch", "function:d::f"}
    assert [n.op_type for n in done.after.functions[0].node] == ["Constant", "Mul"]
    feed = {"c": np.array(True), **X}
    expected, actual = outputs_of(done.before, feed), outputs_of(done.after, feed)
    assert all(np.array_equal(expected[k], actual[k]) for k in expected)


def test_producers_that_lose_their_last_consumer_go_and_others_stay() -> None:
    @rewrite("Add", accuracy=EXACT)
    def take_first(node: NodeView, build: Builder) -> Value:
        """Return the first operand."""
        return node.need(0)

    done = run_pass(
        take_first,
        '<ir_version: 8, opset_import: ["": 17]> g (float[1,3] x) => (float[1,3] y)'
        "<float[1] w = {1}, float[1] unused = {2}>"
        "{ a = Relu (x)  b = Neg (w)  dead = Abs (x)  s = Add (a, b)  y = Exp (s) }",
    )
    assert done.ops == ["Relu", "Abs", "Exp"]
    assert [i.name for i in done.after.graph.initializer] == ["unused"]


def test_a_refusal_changes_nothing() -> None:
    @rewrite("Relu", emits=("Max",), accuracy=EXACT)
    def half_way(node: NodeView, build: Builder) -> Value:
        """Build something, then refuse."""
        build.Max(node.need(0), 0)
        raise Refuse("not today")

    done = run_pass(
        half_way,
        '<ir_version: 8, opset_import: ["": 17]>'
        "g (float[1,3] x) => (float[1,3] y) { y = Relu (x) }",
    )
    assert done.after == done.before
    assert done.reasons == ["not today"]


@pytest.mark.parametrize("kind", ["raises", "undeclared", "dtype", "missing", "shape"])
def test_a_pass_that_breaks_its_word_fails_and_changes_nothing(kind: str) -> None:
    @rewrite("Relu", emits=("Max", "Cast", "Squeeze"), accuracy=EXACT)
    def broken(node: NodeView, build: Builder) -> Value | tuple[Value | None, ...]:
        """Break the contract in one way."""
        x = node.need(0)
        if kind == "raises":
            raise ValueError("oops")
        if kind == "undeclared":
            return build.Abs(x)
        if kind == "dtype":
            return build.Cast(x, to=onnx.TensorProto.DOUBLE)
        if kind == "missing":
            return (None,)
        return build.Squeeze(x, axes=[0])

    done = run_pass(
        broken,
        '<ir_version: 8, opset_import: ["": 17]>'
        "g (float[1,3] x) => (float[1,3] y) { y = Relu (x) }",
    )
    assert [o.status for o in done.outcomes] == [Status.FAILED]
    assert done.after == done.before


def test_metadata_and_doc_string_go_to_the_node_that_gives_the_first_output() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 17]>g (float[1,3] x) => (float[1,3] y) { y = Neg (x) }'
    )
    proto.graph.node[0].doc_string = "from the exporter"
    proto.graph.node[0].metadata_props.add(key="namespace", value="layer.1")
    done = run_pass(neg_to_mul, proto)
    (node,) = done.after.graph.node
    assert node.doc_string == "from the exporter"
    assert node.metadata_props[0].value == "layer.1"
