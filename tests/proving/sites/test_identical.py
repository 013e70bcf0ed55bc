"""Sites that need no run: the same bytes or nodes on both sides, and nothing that only looks so."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import CANONICAL, graph_pass
from graphfix.authoring.editing import Editor
from graphfix.ir.views import Value
from graphfix.proving.sites import prover as proving
from graphfix.proving.sites.identical import BYTES, NODES, PASSED_ON, same_by
from graphfix.proving.sites.prover import Prover
from graphfix.report import Verdict
from graphfix.testing import parse
from tests.proving.sites.conftest import sites_of

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '


def _same(before: str, after: str) -> str:
    return same_by(parse(HEAD + before), parse(HEAD + after))


@pytest.mark.parametrize(
    ("constant", "initializer"),
    [
        ("value = float[2] {1, 2}", "float[2] b = {1, 2}"),
        ("value_floats = [1.0, 2.0]", "float[2] b = {1, 2}"),
        ("value_int = 7", "int64 b = {7}"),
        ("value_ints = [7]", "int64[1] b = {7}"),
    ],
)
def test_a_constant_is_the_initializer_with_its_bytes(constant: str, initializer: str) -> None:
    before = f"s () => (float[] r0) {{ r0 = Constant <{constant}> () }}"
    after = f"s () => (float[] r0) <{initializer}> {{ r0 = Identity (b) }}"
    assert _same(before, after) == BYTES


@pytest.mark.parametrize(
    "initializer",
    [
        "float[2] b = {1, 2.0000002}",
        "float[2] b = {2, 1}",
        "float[2, 1] b = {1, 2}",
        "double[2] b = {1, 2}",
        "float[1] b = {1}",
    ],
)
def test_other_bytes_another_type_or_another_shape_are_not_the_same(initializer: str) -> None:
    before = "s () => (float[] r0) { r0 = Constant <value = float[2] {1, 2}> () }"
    assert _same(before, f"s () => (float[] r0) <{initializer}> {{ r0 = Identity (b) }}") == ""


def _constant(tensor: TensorProto) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Identity", ["b"], ["r0"])],
        "s",
        [],
        [helper.make_tensor_value_info("r0", tensor.data_type, None)],
        [tensor],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_bytes_are_compared_however_they_are_stored() -> None:
    listed = helper.make_tensor("b", TensorProto.FLOAT, [2], [0.0, float("nan")])
    raw = numpy_helper.from_array(np.array([0.0, np.nan], np.float32), "b")
    negative = numpy_helper.from_array(np.array([-0.0, np.nan], np.float32), "b")
    assert same_by(_constant(listed), _constant(raw)) == BYTES
    assert same_by(_constant(raw), _constant(negative)) == ""
    texts = [
        TensorProto(name="b", data_type=TensorProto.STRING, dims=[1], string_data=[text])
        for text in (b"a", b"b")
    ]
    assert same_by(_constant(texts[0]), _constant(texts[0])) == BYTES
    assert same_by(_constant(texts[0]), _constant(texts[1])) == ""
    outside = TensorProto()
    outside.CopyFrom(raw)
    outside.data_location = TensorProto.EXTERNAL
    assert same_by(_constant(outside), _constant(outside)) == ""
    short = TensorProto()
    short.CopyFrom(raw)
    short.raw_data = raw.raw_data[:5]
    assert same_by(_constant(short), _constant(short)) == ""


def test_what_passes_an_input_on_is_that_input_and_no_other() -> None:
    twice = "s (float[2] b0, float[2] b1) => (float[] r0) { v = Identity (b0) r0 = Identity (v) }"
    once = "s (float[2] b0, float[2] b1) => (float[] r0) { r0 = Identity (b0) }"
    other = "s (float[2] b0, float[2] b1) => (float[] r0) { r0 = Identity (b1) }"
    typed = "s (float[3] b0, float[2] b1) => (float[] r0) { r0 = Identity (b0) }"
    assert _same(twice, once) == PASSED_ON
    assert _same(twice, other) == ""
    assert _same(twice, typed) == ""


SUM = "s (float[2] b0, float[2] b1) => (float[] r0) { v = Exp (b0) r0 = Sub (v, b1) }"


@pytest.mark.parametrize(
    ("after", "same"),
    [
        ("{ w = Identity (b1) u = Exp (b0) r0 = Sub (u, w) }", NODES),
        ("{ dead = Log (b1) u = Exp (b0) r0 = Sub (u, b1) }", NODES),
        ("{ u = Exp (b0) r0 = Sub (b1, u) }", ""),
        ("{ u = Exp (b1) r0 = Sub (u, b1) }", ""),
        ("{ u = Exp (b0) r0 = Add (u, b1) }", ""),
        ("{ u = Log (b0) r0 = Sub (u, b1) }", ""),
        ("{ u = Exp (b0) w = Exp (b0) r0 = Sub (w, b1) }", NODES),
    ],
)
def test_nodes_are_the_same_where_they_read_the_same(after: str, same: str) -> None:
    assert _same(SUM, "s (float[2] b0, float[2] b1) => (float[] r0) " + after) == same


def test_attributes_opsets_outputs_and_draws_tell_nodes_apart() -> None:
    def node(text: str) -> str:
        return f"s (float[2, 2] b0) => (float[] r0) {{ {text} }}"

    first = node("r0 = Softmax <axis = 1> (b0)")
    assert _same(first, first) == NODES
    assert _same(first, node("r0 = Softmax <axis = 0> (b0)")) == ""
    other = parse(first.join(['<ir_version: 8, opset_import: ["" : 11]> ', ""]))
    assert same_by(parse(HEAD + first), other) == ""
    top = node("r0, i = TopK <axis = 0> (b0, k)").replace("b0)", "b0, int64[1] k)", 1)
    assert _same(top, top) == NODES
    assert _same(top, top.replace("r0, i", "i, r0")) == ""
    for drawn in ("RandomNormalLike (b0)", "Bernoulli (b0)", "Dropout (b0)"):
        assert _same(node(f"r0 = {drawn}"), node(f"r0 = {drawn}")) == ""


def test_loops_and_functions_are_run() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    s (int64 n, bool c, float b0) => (float r0) {
      r0 = Loop (n, c, b0) <body = a (int64 i, bool d, float x) => (bool e, float y) {
                                e = Identity (d)  y = Exp (x) }>
    }"""
    model = parse(text)
    assert same_by(model, model) == ""
    called = parse("""<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    s (float b0) => (float r0) { r0 = f.own (b0) }
    <domain: "f", opset_import: ["" : 17]> own (x) => (y) { y = Exp (x) }""")
    assert same_by(called, called) == ""


MOVED = (
    HEAD
    + """g (float[2] x) => (float[2] y) {
    a = Identity (x)  c = Constant <value = float[2] {1, 2}> ()  y = Add (a, c) }"""
)


def test_moved_constants_and_identities_are_proved_without_a_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object) -> None:
        pytest.fail("a child was asked")

    monkeypatch.setattr(proving, "ask", never)
    sites, _ = sites_of(MOVED, "identity-elimination", "constant-to-initializer")
    proofs = Prover({}).prove([(evidence, site.accuracy) for site, evidence in sites], {})
    reported = {site.node.op: proof for (site, _), proof in zip(sites, proofs, strict=True)}
    assert {op: (p.status, p.samples, p.reason) for op, p in reported.items()} == {
        "Identity": (Verdict.EQUAL, 0, PASSED_ON),
        "Constant": (Verdict.EQUAL, 0, BYTES),
    }


def _constant_called(array: np.ndarray[Any, Any], name: str, build: Builder) -> Value:
    return build.constant(array, replaces=name)


@graph_pass(stage=CANONICAL, removes="form:Constant.*")
def constants_moved_wrongly(editor: Editor) -> None:
    """Move constants, and change them by one percent on the way."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if view.op == "Constant":
                output = view.output(0)
                assert output is not None
                array = output.array()
                assert array is not None
                wrong, name = array * np.float32(1.01), output.name
                editor.replace(view, partial(_constant_called, wrong, name))


def test_a_pass_that_moves_other_bytes_is_run_and_refuted() -> None:
    sites, _ = sites_of(MOVED, constants_moved_wrongly)
    assert len(sites) == 1
    (proof,) = Prover({}).prove([(evidence, site.accuracy) for site, evidence in sites], {})
    assert proof.status is Verdict.MISMATCH


def _branches(head: str, then: str, other: str = "q = Exp (x)", condition: str = "c") -> str:
    return (
        f"s (bool[1] c, float[2] x, float[2] z) => (float[] r0) <int64[0] e = {{}}, int64[1] o ="
        f" {{1}}, float[1] k = {{2}}> {{ {head} r0 = If ({condition}) <then_branch = t () => (p)"
        f" {{ {then} }}, else_branch = f () => (q) {{ {other} }}> }}"
    )


PLAIN = _branches("", "a = Mul (x, k) p = Neg (a)")


@pytest.mark.parametrize(
    "after",
    [
        _branches("", "b = Mul (x, k) p = Neg (b)"),
        _branches("m = Identity (k)", "l = Identity (x) a = Mul (l, m) p = Neg (a)"),
        _branches("", "j = Constant <value = float[1] {2}> () a = Mul (x, j) p = Neg (a)"),
        _branches("d = Reshape (c, e)", "a = Mul (x, k) p = Neg (a)", condition="d"),
    ],
)
def test_branches_are_the_same_by_what_they_compute(after: str) -> None:
    assert _same(PLAIN, after) == NODES


@pytest.mark.parametrize(
    "after",
    [
        _branches("", "a = Mul (z, k) p = Neg (a)"),
        _branches("", "a = Mul (x, k) p = Exp (a)"),
        _branches("", "a = Mul (x, k) p = Neg (x)"),
        _branches("", "a = Mul (x, k) p = Neg (a)", "q = Exp (z)"),
        _branches("", "p = Exp (x)", "a = Mul (x, k) q = Neg (a)"),
        _branches("d = Not (c)", "a = Mul (x, k) p = Neg (a)", condition="d"),
        _branches("d = Reshape (c, o)", "a = Mul (x, k) p = Neg (a)", condition="d"),
        _branches("n = Not (c) d = Reshape (n, e)", "a = Mul (x, k) p = Neg (a)", condition="d"),
        _branches("", "j = Constant <value = float[1] {3}> () a = Mul (x, j) p = Neg (a)"),
    ],
)
def test_branches_that_compute_something_else_are_not(after: str) -> None:
    assert _same(PLAIN, after) == ""


def test_what_branches_draw_is_not_the_same() -> None:
    drawn = _branches("", "a = RandomNormalLike (x) p = Neg (a)")
    assert _same(drawn, drawn) == ""
