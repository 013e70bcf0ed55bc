"""What is only unknown after an operator of unknown types is counted in its finding."""

from __future__ import annotations

import onnx

import graphfix
from graphfix.report import Finding, Severity, blocking_by_severity
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g'
WEIGHTS = "<float[3,3,1,1] k = {1,0,0,0,1,0,0,0,1}>"
CHAIN = parse(
    f"{HEAD} (float[1,3,4,4] x, float[3] s) => (float[A,B,C,D] y) {WEIGHTS} {{ "
    "a = acme.MyNorm (x, s) b = Relu (a) c = Conv (b, k) d = Sigmoid (c) e = Add (d, c) "
    "f = Exp (e) h = Neg (f) i = Sqrt (h) y = Softmax (i) }"
)


def _blocking(proto: onnx.ModelProto, target: str = "trt8", **given: object) -> list[Finding]:
    found = graphfix.check(proto, target, **given)  # type: ignore[arg-type]
    return [finding for finding in found if finding.blocks]


def test_an_unknown_operator_gives_one_finding() -> None:
    (found,) = _blocking(CHAIN)
    assert (found.rule, found.node.op, found.certain) == ("operator-not-supported", "MyNorm", True)
    assert found.message.endswith("8 nodes after it whose types are unknown are not judged")
    assert {f.node.op for f in found.follow_ups} == {
        *("Relu", "Conv", "Sigmoid", "Add", "Exp", "Neg", "Sqrt", "Softmax")
    }
    assert not any(f.certain for f in found.follow_ups)
    assert [f.node.op for f in _blocking(CHAIN, "ort")] == ["MyNorm"]


def test_what_is_certain_after_an_unknown_operator_stays_a_finding() -> None:
    proto = parse(
        f"{HEAD} (float[2,3] x) => (float[A,B] y) "
        "{ a = acme.MyNorm (x) b = Relu (a) c = Det (b) y = Add (c, c) }"
    )
    assert [(f.node.op, f.certain) for f in _blocking(proto)] == [("MyNorm", True), ("Det", True)]


def test_what_is_unknown_for_another_reason_stays_a_finding() -> None:
    proto = parse(
        f"{HEAD} (float[2,3] x, float z) => (float[A,B] y, float[C,D,E] w) "
        f"{WEIGHTS} {{ a = acme.MyNorm (x) y = Relu (a) w = Conv (z, k) }}"
    )
    del proto.graph.input[1].type.tensor_type.shape.dim[:]
    proto.graph.input[1].type.tensor_type.ClearField("shape")
    found = _blocking(proto)
    assert [(f.node.op, f.certain) for f in found] == [("MyNorm", True), ("Conv", False)]
    assert [f.node.op for f in found[0].follow_ups] == ["Relu"]


def test_an_assumed_operator_of_unknown_types_gives_one_possible_finding() -> None:
    (found,) = _blocking(CHAIN, assume_ops=["acme::MyNorm"])
    assert (found.rule, found.node.op, found.certain) == ("types-unknown", "MyNorm", False)
    assert (found.severity, found.missing) == (Severity.REJECT, "type of a")
    assert len({f.node.index for f in found.follow_ups}) == 8


def test_an_operator_with_nothing_to_judge_after_it_is_not_reported() -> None:
    proto = parse(f"{HEAD} (float[2] x) => (float[2] y) {{ y = acme.MyNorm (x) }}")
    assert _blocking(proto, assume_ops=["acme::MyNorm"]) == []


def test_subgraphs_and_functions_after_an_unknown_operator_are_counted() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1, "local" : 1]> '
        "g (float[2,3] x, bool c, int64 n) => (float[A,B] y, float[C,D] z) { "
        "a = acme.MyNorm (x) f = local.twice (a) "
        "y = If (c) <then_branch = t () => (float[A,B] p) { p = Relu (f) }, "
        "else_branch = e () => (float[A,B] q) { q = Sigmoid (a) }> "
        "z = Loop (n, c, a) <body = b (int64 i, bool on, float[C,D] s) => (bool off, float[C,D] r) "
        "{ off = Identity (on) r = Relu (s) }> }\n"
        '<domain: "local", opset_import: ["" : 17]> twice (u) => (v) { v = Relu (u) }'
    )
    for graph in (proto.graph.node[3].attribute[0].g,):
        for value in (*graph.input[2:], *graph.output[1:]):
            value.ClearField("type")
    found = _blocking(proto, "trt10.1")
    assert [f.node.op for f in found if f.rule == "operator-not-supported"] == ["MyNorm"]
    assert not [f for f in found if not f.certain]
    assert {f.node.scope for f in found[0].follow_ups} == {
        "main/If.then_branch",
        "main/If.else_branch",
        "main/Loop.body",
        "function:local::twice",
    }


def test_findings_are_compared_by_all_that_is_counted_in_them() -> None:
    (found,) = _blocking(CHAIN)
    assert blocking_by_severity([found])[Severity.REJECT] > 5
    (possible,) = _blocking(CHAIN, assume_ops=["acme::MyNorm"])
    assert blocking_by_severity([possible]) == blocking_by_severity(found.follow_ups)
