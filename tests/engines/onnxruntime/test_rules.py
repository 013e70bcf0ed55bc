from __future__ import annotations

import onnx
import pytest

import graphfix
from graphfix.report import Finding
from tests.engines.cases import (
    No,
    Unknown,
    Yes,
    assert_no,
    assert_unknown,
    assert_yes,
    check,
    model_of,
)

YES = [
    Yes(
        "(float[2] x) => (float[2] y) { y = com.microsoft.BiasAdd (x, x, x) }",
        "not-registered",
        "op:com.microsoft::BiasAdd",
        "reject",
        "Could not find an implementation for BiasAdd(1) node with name ''",
        "ort-1.31",
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = Gelu (x) }",
        "no-kernel",
        "op:Gelu",
        "reject",
        "No Op registered for Gelu with domain_version of 14",
        "ort-1.8",
        14,
    ),
    Yes(
        "(float[2] x, int64[1] s) => (float[2] y) { y = Reshape (x, s) }",
        "no-kernel",
        "form:Reshape.19",
        "reject",
        "Could not find an implementation for Reshape(19) node with name ''",
        "ort-1.15",
        19,
    ),
    Yes(
        "(int8[2] x) => (int8[2] y) { y = Add (x, x) }",
        "no-kernel-for-type",
        "dtype:Add.int8",
        "reject",
        "Could not find an implementation for Add(14) node with name ''",
        "ort-1.8",
        14,
    ),
    Yes(
        "(bool[2] c, bool[2] x) => (bool[2] y) { y = Where (c, x, c) }",
        "no-kernel-for-type",
        "dtype:Where.bool",
        "reject",
        "Where(9)",
        "ort-1.8",
        13,
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = com.microsoft.QLinearSoftmax (x) }",
        "not-registered",
        "op:com.microsoft::QLinearSoftmax",
        "reject",
        "Fatal error: QLinearSoftmax is not a registered function/op",
        "ort-1.8",
        13,
    ),
    Yes(
        "(float[2] x) => (float[2] y) "
        '{ y = org.pytorch.aten.ATen <operator: string = "celu"> (x) }',
        "not-registered",
        "op:aten::celu",
        "reject",
        "Fatal error: org.pytorch.aten:ATen(-1) is not a registered function/op",
        "ort-1.31",
        13,
    ),
    Yes(
        "(float[2] x) => (float[2] y) { y = mine.Own (x) }",
        "not-registered",
        "op:mine::Own",
        "reject",
        "Fatal error: mine:Own(-1) is not a registered function/op",
        "ort-1.17",
        13,
    ),
    Yes(
        "(float[2,3] x) => (float[n,m] y) "
        "{ s = Constant <value_ints: ints = [-1, 2]> () "
        "  y = Reshape <allowzero: int = 1> (x, s) }",
        "reshape-allowzero",
        "form:Reshape.allowzero",
        "reject",
        "!allow_zero was false",
        "ort-1.10",
        14,
    ),
]
RECURRENT = [
    Yes(
        f"(float[3,2,4] x, float[1,{gates},4] w, float[1,{gates},5] r) => (float[3,2,1,5] y) "
        f"{{ y = {op} <hidden_size: int = 5, layout: int = 1> (x, w, r) }}",
        "recurrent-layout",
        f"form:{op}.layout",
        "reject",
        "layout_ == 0 was false. Batchwise recurrent operations (layout == 1) are not supported.",
        target,
        14,
    )
    for op, gates in (("LSTM", 20), ("GRU", 15), ("RNN", 5))
    for target in ("ort-1.10", "ort-1.31")
]
NO = [
    No("(float[2] x) => (float[2] y) { y = Relu (x) }", "no-kernel", "ort-1.8", 14),
    No("(float[2] x) => (float[2] y) { y = Add (x, x) }", "no-kernel-for-type", "ort-1.8", 14),
    No("(int8[2] x) => (int8[2] y) { y = Add (x, x) }", "no-kernel-for-type", "ort-1.31", 14),
    No(
        "(float[2] x, int64[1] s) => (float[2] y) { y = Reshape (x, s) }",
        "no-kernel",
        "ort-1.15",
        18,
    ),
    No("(float[2] x) => (float[2] y) { y = com.microsoft.Gelu (x) }", "not-registered", "ort-1.8"),
    No(
        "(float[2,3] x) => (float[n,m] y) "
        "{ s = Constant <value_ints: ints = [3, 2]> () "
        "  y = Reshape <allowzero: int = 1> (x, s) }",
        "reshape-allowzero",
        "ort-1.10",
        14,
    ),
    No(
        "(float[2,3] x, int64[2] s) => (float[n,m] y) { y = Reshape <allowzero: int = 1> (x, s) }",
        "reshape-allowzero",
        "ort-1.11",
        14,
    ),
]
UNKNOWN = [
    Unknown(
        "(float[2,3] x, int64[2] s) => (float[n,m] y) { y = Reshape <allowzero: int = 1> (x, s) }",
        "reshape-allowzero",
        "the shape, which must not have a -1",
        "ort-1.8",
        14,
    ),
]


@pytest.mark.parametrize(
    "case", [*YES, *RECURRENT], ids=lambda case: f"{case.feature}-{case.target}"
)
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}")
def test_no(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_unknown(case: Unknown) -> None:
    assert_unknown(case)


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
