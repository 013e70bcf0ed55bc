from __future__ import annotations

import onnx

import graphfix
from graphfix.report import Finding
from tests.engines.cases import (
    check,
    model_of,
)


def about(found: tuple[Finding, ...], rule: str) -> list[tuple[str, str]]:
    return [(one.feature, one.engine_text) for one in found if one.rule == rule]


def test_the_opset_and_the_ir_version_are_looked_at() -> None:
    proto = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }", 20)
    proto.ir_version = 10
    [(feature, said)] = about(check(proto, "ort-1.12"), "runtime-opset")
    assert feature == "opset:too-high"
    assert said.startswith("ONNX Runtime only *guarantees* support")
    assert said.endswith("Current official support for domain ai.onnx is till opset 17.")
    assert about(check(proto, "ort-1.12"), "runtime-ir") == [
        ("ir:too-high", "Unsupported model IR version: 10, max supported IR version: 8")
    ]
    assert about(check(proto, "ort-1.8"), "runtime-ir") == [
        ("ir:too-high", "Unknown model file format version.")
    ]
    newest = check(proto, "ort-1.31")
    assert not about(newest, "runtime-opset") + about(newest, "runtime-ir")


def test_a_domain_counts_whether_it_is_used_or_not() -> None:
    proto = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }", 13)
    proto.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", 4))
    assert [f for f, _ in about(check(proto, "ort-1.8"), "runtime-domain")] == [
        "domain:too-high.ai.onnx.ml"
    ]
    assert not about(check(proto, "ort-1.17"), "runtime-domain")


def test_a_model_is_brought_down_to_an_old_release() -> None:
    proto = model_of(
        "(float[2,3] x) => (float[n,m] y) "
        "{ s = Constant <value_ints: ints = [-1, 2]> () "
        "  r = Reshape <allowzero: int = 1> (x, s) y = Gelu (r) }",
        20,
    )
    proto.ir_version = 10
    proto.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", 5))
    result = graphfix.run(proto, target="ort-1.8")
    assert result.exit_code == 0
    assert result.report.findings_after == ()
    after = result.model.to_proto()
    assert {o.domain: o.version for o in after.opset_import} == {"": 13}
    assert after.ir_version == 7
    assert "Gelu" not in {node.op_type for node in after.graph.node}


def test_functions_are_inlined_where_the_release_does_not_read_them() -> None:
    proto = model_of(
        "(float[2] x) => (float[2] y) { y = local.f (x) }",
        13,
        '<opset_import: ["" : 13], domain: "local"> f (a) => (b) { b = Neg (a) }',
    )
    for target, functions in (("ort-1.8", 0), ("ort-1.17", 1)):
        result = graphfix.run(proto, target=target)
        assert result.exit_code == 0
        assert len(result.model.to_proto().functions) == functions
