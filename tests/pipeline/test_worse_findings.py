"""What leaves more findings of a severity than the model had is rolled back and named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx
import pytest

from graphfix import run
from graphfix.pipeline.attempts import grown
from graphfix.report import Severity, Status

HARMFUL = '''
"""Write Neg with what the engine lacks."""
from graphfix import EXACT, rewrite


@rewrite("Neg", removes=(), emits=("Unique", "Sub"), accuracy=EXACT, stage="canonical")
def neg_by_unique(node, build):
    """Subtract twice the Unique of one value."""
    return build.Sub(build.Unique(node.inputs[0]), build.Unique(node.inputs[0]))
'''


def model(body: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 16]> g {body}')


@pytest.fixture
def harmful(tmp_path: Path) -> Path:
    path = tmp_path / "harmful.py"
    path.write_text(HARMFUL)
    return path


def test_a_pass_that_adds_findings_is_rolled_back_and_the_others_stay(harmful: Path) -> None:
    plain = model("(float[1] x) => (float[1] y) { a = Neg (x) y = HardSwish (a) }")
    repaired_by = ["unique-to-sorted-differences"]  # which would make good what the pass does
    result = run(plain, "trt8.0", pass_files=[harmful], skip=repaired_by, verify="off")
    found = {o.pass_id: o for o in result.report.outcomes}
    harmful_pass = found["neg-by-unique"]
    assert harmful_pass.status is Status.REFUSED
    assert "rolled back: 1 findings of severity reject would become 2" in harmful_pass.reason
    assert harmful_pass.sites[0].node.op == "Neg"
    assert found["hardswish-to-hardsigmoid"].status is Status.APPLIED
    ops = [node.op_type for node in result.model.to_proto().graph.node]
    assert ops[0] == "Neg"
    assert "HardSwish" not in ops
    assert [f for f in result.report.findings_after if f.blocks] == []


def test_passes_that_are_named_do_what_they_are_reported(harmful: Path) -> None:
    plain = model("(float[1] x) => (float[1] y) { y = Neg (x) }")
    result = run(plain, passes=["neg-by-unique"], pass_files=[harmful], verify="off")
    assert "Unique" in [node.op_type for node in result.model.to_proto().graph.node]


def test_findings_of_a_function_count_once_for_each_call() -> None:
    text = """<ir_version: 9, opset_import: ["": 17, "local": 1]>
    g (float[3,3] x) => (float[3,3] y) { a = local.f (x) b = local.f (a) y = local.f (b) }
    <domain: "local", opset_import: ["": 17]> f (x) => (y) { y = EyeLike (x) }"""
    result = run(onnx.parser.parse_model(text), "trt7.0", verify="off")
    inlined = [o for o in result.report.outcomes if o.pass_id == "inline-functions"]
    assert [o.status for o in inlined] == [Status.APPLIED]


def test_growth_is_counted_by_severity() -> None:
    before = Counter({Severity.REJECT: 3, Severity.WRONG: 1})
    assert grown(before, Counter({Severity.REJECT: 3})) == []
    assert grown(before, Counter({Severity.REJECT: 1, Severity.WRONG: 2})) == [
        "1 findings of severity wrong would become 2"
    ]
    assert grown(Counter(), Counter({Severity.BUILDER: 1})) == [
        "0 findings of severity builder would become 1"
    ]


def test_what_lays_a_contradiction_open_is_rolled_back() -> None:
    plain = model(
        "(float[2,3] x) => (int64[2,3] y, float[2,3] z) <int64[1] k = {3}, int64[2] s = {2, 3}> "
        "{ c = ConstantOfShape (k) n = NonZero (c) y = Expand (n, s) z = Neg <nonsense = 1> (x) }"
    )
    result = run(plain, "openvino2026.4")
    assert [f.rule for f in result.report.findings_before] == ["unknown-attribute"]
    assert [f.rule for f in result.report.findings_after] == ["unknown-attribute"]
    found = {o.pass_id: o for o in result.report.outcomes}["fold-constants"]
    assert found.status is Status.REFUSED
    assert "rolled back: 1 findings of severity reject would become 2" in found.reason
