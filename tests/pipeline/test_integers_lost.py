"""What a run says first of a quantized network that no longer computes in 8 bits."""

from __future__ import annotations

import json

import pytest
from onnx import TensorProto

from graphfix.api import run
from graphfix.rendering.as_json import report_json
from graphfix.rendering.html.run_page import run_page
from graphfix.rendering.markdown import report_markdown
from graphfix.rendering.short_lines import next_steps
from graphfix.rendering.short_report import short_report
from graphfix.rendering.text_report import report_text
from graphfix.report import Severity, Verdict
from graphfix.report.costs import IntegerPlaces
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,3] y) '
WEIGHTS = "int8[3,3] w = {1,2,3,4,5,6,7,8,9}, int8 none = {0}, float t = {0.25}"
PRODUCT = """q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z)
    k = DequantizeLinear (w, t, none) m = MatMul (d, k)"""


def model(zero: str, rest: str) -> str:
    return f"{HEAD} <float s = {{0.5}}, {zero}, {WEIGHTS}> {{ {PRODUCT} {rest} }}"


ALL = model("uint8 z = {3}", "y = Relu (m)")
HALF = model(
    "int8 z = {0}, uint8 u = {7}",
    "p = QuantizeLinear (m, s, u) e = DequantizeLinear (p, s, u) y = MatMul (e, k)",
)
DYNAMIC = f"""{HEAD} <{WEIGHTS}> {{ q, s, z = DynamicQuantizeLinear (x)
    p = MatMulInteger (q, w, z, none) c = Cast <to = 1> (p) r = Mul (s, t) y = Mul (c, r) }}"""
KEPT = model("int8 z = {0}", "y = Relu (m)")


def test_all_of_it() -> None:
    result = run(parse(ALL), "trt8")
    report, code = result.report, result.exit_code
    assert report.integers == IntegerPlaces(1, 0, 0.0, 1)
    said = "All computing in 8 bits (1 product) is in floats now; --allow-lossy keeps 1."
    assert said in " ".join(" ".join(short_report(report, code).splitlines()[:5]).split())
    assert said in " ".join(report_text(report, code).splitlines()[:9])
    assert said in "\n".join(report_markdown(report, code).splitlines()[:7])
    assert next_steps(report, code)[0].startswith("`--allow-lossy` keeps 1 of 1 product in int8")
    assert ("int8", said) in run_page(result).facts
    assert json.loads(json.dumps(report_json(report)))["integers"] == {
        "before": 1,
        "after": 0,
        "share": 0.0,
        "by_consent": 1,
        "nodes_by_consent": None,
    }


def test_half_of_it() -> None:
    report = run(parse(HALF), "trt8").report
    assert report.integers == IntegerPlaces(2, 1, 0.5, 2)
    said = " ".join(short_report(report, 0).split())
    assert "Of 2 products in 8 bits 1 stays so (50% of their multiply-adds); 1 is computed" in said
    assert "in floats now; --allow-lossy keeps 2." in said


@pytest.mark.parametrize("target", ["trt8", "trt10", "trt-rtx"])
@pytest.mark.parametrize("text", [ALL, HALF])
def test_what_a_consent_keeps(text: str, target: str) -> None:
    result = run(parse(text), target, allow_lossy=True)
    assert (result.exit_code, result.report.integers) == (0, None)
    assert result.report.verification.status is Verdict.LOSSY
    assert "asymmetric-pair-to-int8" in {o.pass_id for o in result.report.outcomes}
    kinds = {t.name: t.data_type for t in result.model.to_proto().graph.initializer}
    assert TensorProto.UINT8 not in kinds.values()


def test_a_step_is_consented_to() -> None:
    """QNN adds up integers, which may be a step away: a note then, and floats without consent."""
    exact = run(parse(HALF), "qnn", verify="sites").report
    assert exact.integers == IntegerPlaces(2, 0, 0.0, 2)
    kept = run(parse(HALF), "qnn", verify="sites", allow_lossy=True)
    assert (kept.exit_code, kept.report.integers) == (0, None)
    found = {(f.rule, f.severity) for f in kept.report.findings_after}
    assert found == {("rounded-by-a-step", Severity.NOTE)}
    assert {f.rule for f in exact.findings_after} == set()


def test_what_nothing_quantizes_after_it_is_computed_in_floats_by_qnn() -> None:
    result = run(parse(ALL), "qnn", verify="sites", allow_lossy=True)
    assert (result.exit_code, result.report.integers) == (0, IntegerPlaces(1, 0, 0.0))


def test_operators_between_bytes_are_written_with_quantizers_for_qnn() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,2] y)
        <float s = {0.05}, uint8 z = {3}, uint8 n = {7}, float t = {0.02},
        uint8[3,2] w = {45,17,1,29,24,58}, float u = {0.04}> {
            q = QuantizeLinear (x, s, z) g = QLinearMatMul (q, s, z, w, t, n, u, z)
            m = Transpose (g) r = Transpose (m) y = DequantizeLinear (r, u, z) }"""
    result = run(parse(text), "qnn", verify="sites", allow_lossy=True)
    assert (result.exit_code, result.report.integers) == (0, None)
    ops = [node.op_type for node in result.model.to_proto().graph.node]
    pair = ["QuantizeLinear", "DequantizeLinear"]
    assert sorted(ops) == sorted(
        [*pair * 4, "DequantizeLinear", "MatMul", "Transpose", "Transpose"]
    )


@pytest.mark.parametrize("target", ["trt8", "trt10", "qnn"])
def test_dynamic_quantization_is_offered_as_plain_floats(target: str) -> None:
    result = run(parse(DYNAMIC), target)
    report = result.report
    fewer = run(parse(DYNAMIC), target, allow_lossy=True)
    nodes = (result.model.node_count(), fewer.model.node_count())
    assert nodes[1] == len(fewer.model.to_proto().graph.node) < nodes[0]
    assert report.integers == IntegerPlaces(1, 0, 0.0, None, nodes)
    steps = next_steps(report, result.exit_code)
    assert f"writes the floats with {nodes[1]} nodes instead of {nodes[0]}" in steps[0]
    assert fewer.report.integers == IntegerPlaces(1, 0, 0.0)
    assert fewer.report.verification.status is Verdict.LOSSY


@pytest.mark.parametrize("target", ["openvino", "trt8"])
def test_operators_of_integers_become_floats_between_bytes(target: str) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[2,3] x) => (float[2,2] y) <float s = {0.05}, uint8 z = {3}, int8 none = {0},
        float t = {0.02}, int8[3,2] w = {45,17,1,29,24,58}, float u = {0.04}> {
            q = QuantizeLinear (x, s, z)
            g = com.microsoft.QGemm (q, s, z, w, t, none, , u, z)
            y = DequantizeLinear (g, u, z) }"""
    assert run(parse(text), target).report.integers == IntegerPlaces(1, 0, 0.0, 1)
    kept = run(parse(text), target, allow_lossy=True)
    assert (kept.exit_code, kept.report.integers) == (0, None)
    ops = [node.op_type for node in kept.model.to_proto().graph.node if node.op_type != "Clip"]
    pair = ["QuantizeLinear", "DequantizeLinear"]
    assert ops == [*pair, "DequantizeLinear", "Gemm", *pair]
    kinds = {t.data_type for t in kept.model.to_proto().graph.initializer}
    assert (TensorProto.UINT8 in kinds) == (target == "openvino")


def test_a_target_that_does_not_compute_so_is_left_as_it_was() -> None:
    without, given = (run(parse(ALL), "trt7", allow_lossy=lossy) for lossy in (False, True))
    assert without.report.integers == given.report.integers == IntegerPlaces(1, 0, 0.0)
    assert without.model.to_proto() == given.model.to_proto()


def test_nothing_of_it_and_no_quantized_network() -> None:
    for text, target in ((KEPT, "trt8"), (ALL, "ort"), (HEAD + "{ y = Mish (x) }", "trt8")):
        report = run(parse(text), target).report
        assert report.integers is None
        assert "int8" not in short_report(report, 0)
        assert "integers" not in report_json(report)
