"""Passes that are wrong in one respect only: caught at the site, rolled back, the rest kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.pipeline.results import Result
from graphfix.report import Certificate, Outcome, Status, Verdict

HEAD = "import numpy as np\nfrom graphfix import EXACT, LOSSY, rewrite\n"

NEGATIVE = """
@rewrite("Abs", emits=("Max", "Neg"), accuracy=EXACT)
def wrong(node, build):
    x = node.inputs[0]
    return build.Max(x, build.Neg(x) if node.name == "good" else 0.0)
"""
TIES = """
@rewrite("Round", emits=("Floor", "Add", "Neg", "Ceil", "Sub", "Mul", "Round"), accuracy=EXACT)
def wrong(node, build):
    x = node.inputs[0]
    if node.name == "good":
        return build.Neg(build.Round(build.Neg(x)))
    return build.Floor(build.Add(x, 0.5))
"""
SIZE = """
@rewrite("ReduceMean", emits=("ReduceSum", "Mul", "ReduceMean", "Neg"), accuracy=EXACT)
def wrong(node, build):
    x = node.inputs[0]
    if node.name == "good":
        return build.Neg(build.ReduceMean(build.Neg(x), axes=[0], keepdims=1))
    return build.Mul(build.ReduceSum(x, axes=[0], keepdims=1), 0.5)
"""
FACTOR = """
@rewrite("Neg", emits=("Mul",), accuracy=EXACT)
def wrong(node, build):
    return build.Mul(node.inputs[0], -1.0 if node.name == "good" else -1.002)
"""
ELEMENT = """
@rewrite("Neg", emits=("Mul",), accuracy=EXACT)
def wrong(node, build):
    factor = np.full((3, 4), -1.0, np.float32)
    if node.name != "good":
        factor[1, 2] = -1.01
    return build.Mul(node.inputs[0], factor)
"""

INFINITE = """
@rewrite("Neg", emits=("Mul", "Add", "Neg"), accuracy=EXACT, claims=("inf",))
def wrong(node, build):
    x = node.inputs[0]
    if node.name == "good":
        return build.Mul(x, -1.0)
    return build.Add(build.Neg(x), build.Mul(x, 0.0))
"""


def _model(op: str, shape: str, attributes: str = "") -> onnx.ModelProto:
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[{shape}] x) => (float[{shape}] y, float[{shape}] z) {{
          [good] a = {op} {attributes} (x)
          [bad] b = {op} {attributes} (x)
          y = Mul (a, x)
          z = Add (b, x)
        }}
    """)


def _run(tmp_path: Path, source: str, model: onnx.ModelProto, verify: str = "auto") -> Result:
    file = tmp_path / "wrong_pass.py"
    file.write_text(HEAD + source, encoding="utf-8")
    lossy = "LOSSY)" in source
    return graphfix.run(
        model, passes=["wrong"], pass_files=[file], verify=verify, allow_lossy=lossy
    )


def _outcome(result: Result, status: Status) -> Outcome:
    found = [o for o in result.report.outcomes if o.status is status]
    assert len(found) == 1, result.report.outcomes
    return found[0]


def _proof(outcome: Outcome) -> Certificate:
    assert len(outcome.sites) == 1
    proof = outcome.sites[0].certificate
    assert proof is not None
    return proof


CASES = {
    "negative": (NEGATIVE, "Abs", "3, 4", ""),
    "ties": (TIES, "Round", "3, 4", ""),
    "size": (SIZE, "ReduceMean", "N, 4", "<axes: ints = [0], keepdims: int = 1>"),
    "factor": (FACTOR, "Neg", "3, 4", ""),
    "infinite": (INFINITE, "Neg", "3, 4", ""),
    "element": (ELEMENT, "Neg", "3, 4", ""),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("verify", ["auto", "sites"])
def test_a_wrong_site_is_rolled_back_and_the_right_one_stays(
    tmp_path: Path, case: str, verify: str
) -> None:
    source, op, shape, attributes = CASES[case]
    result = _run(tmp_path, source, _model(op, shape, attributes), verify)
    applied = _outcome(result, Status.APPLIED)
    assert [site.node.name for site in applied.sites] == ["good"]
    assert _proof(applied).status is Verdict.EQUAL
    assert _proof(applied).samples >= 3
    failed = _outcome(result, Status.FAILED)
    assert (failed.pass_id, [site.node.name for site in failed.sites]) == ("wrong", ["bad"])
    assert _proof(failed).status is Verdict.MISMATCH
    assert "the smallest input found: x = float32" in failed.reason
    kept = {node.output[0]: node.op_type for node in result.model.to_proto().graph.node}
    assert kept["b"] == op
    assert kept["a"] != op or "good" not in [n.name for n in result.model.to_proto().graph.node]
    assert result.exit_code == 1  # it was named, and failed at a site


ALWAYS_THERE = """
@rewrite("OptionalHasElement", emits="", accuracy=EXACT)
def wrong(node, build):
    return build.constant(np.array(True))
"""


@pytest.mark.parametrize("verify", ["auto", "sites", "full"])
def test_an_optional_that_is_not_there_is_looked_at(tmp_path: Path, verify: str) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18]>
        g (optional(float[2, 3]) x, float[4] z) => (bool y, float[4] w) {
          y = OptionalHasElement (x)
          w = Neg (z)
        }
    """)
    failed = _outcome(_run(tmp_path, ALWAYS_THERE, model, verify), Status.FAILED)
    assert failed.pass_id == "wrong"
    if verify != "full":
        assert _proof(failed).status is Verdict.MISMATCH
        assert failed.reason.endswith("the smallest input found: x = nothing")


def test_what_only_runs_with_an_optional_is_compared_with_it(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18]>
        g (optional(float[N, 3]) x) => (float[N, 3] y) {
          e = OptionalGetElement (x)
          [good] y = Neg (e)
        }
    """)
    result = _run(tmp_path, FACTOR, model)
    assert _proof(_outcome(result, Status.APPLIED)).status is Verdict.EQUAL
    assert result.report.verification.status is Verdict.EQUAL
    assert result.exit_code == 0


def test_infinities_that_no_one_claims_are_not_looked_at(tmp_path: Path) -> None:
    source = INFINITE.replace(', claims=("inf",)', "")
    applied = _outcome(_run(tmp_path, source, _model("Neg", "3, 4")), Status.APPLIED)
    assert sorted(site.node.name for site in applied.sites) == ["bad", "good"]


def test_the_smallest_input_names_one_element(tmp_path: Path) -> None:
    result = _run(tmp_path, ELEMENT, _model("Neg", "3, 4"))
    reason = _outcome(result, Status.FAILED).reason
    assert "b: " in reason
    assert "x = float32[3, 4] zero but for [1, 2] " in reason
    assert "more" not in reason


def test_a_wrong_sign_is_found_by_a_negative_number(tmp_path: Path) -> None:
    result = _run(tmp_path, NEGATIVE, _model("Abs", "1"))
    reason = _outcome(result, Status.FAILED).reason
    assert "x = float32[1] -" in reason


def test_without_certificates_the_whole_pass_is_blamed(tmp_path: Path) -> None:
    result = _run(tmp_path, FACTOR, _model("Neg", "3, 4"), verify="full")
    assert _outcome(result, Status.FAILED).pass_id == "wrong"
    assert not [o for o in result.report.outcomes if o.status is Status.APPLIED]
    ops = [node.op_type for node in result.model.to_proto().graph.node]
    assert ops.count("Neg") == 2


def test_off_computes_nothing(tmp_path: Path) -> None:
    result = _run(tmp_path, FACTOR, _model("Neg", "3, 4"), verify="off")
    applied = _outcome(result, Status.APPLIED)
    assert [site.certificate for site in applied.sites] == [None, None]
    assert result.report.verification.status is Verdict.OFF
    assert "certify" not in result.report.seconds


def test_a_lossy_site_says_how_far_it_is_off(tmp_path: Path) -> None:
    source = FACTOR.replace("EXACT)", "LOSSY)")
    result = _run(tmp_path, source, _model("Neg", "3, 4"))
    proofs = {s.node.name: s.certificate for s in _outcome(result, Status.APPLIED).sites}
    wrong = proofs["bad"]
    assert wrong is not None
    assert wrong.status is Verdict.LOSSY
    assert wrong.max_rel is not None
    np.testing.assert_allclose(wrong.max_rel, 0.002, rtol=0.01)
    right = proofs["good"]
    assert right is not None
    assert (right.status, right.max_abs) == (Verdict.EQUAL, 0.0)


def test_a_pass_that_is_wrong_everywhere_leaves_the_model(tmp_path: Path) -> None:
    source = NEGATIVE.replace('"good"', '"neither"')
    model = _model("Abs", "3, 4")
    result = _run(tmp_path, source, model)
    sites = [s.node.name for o in result.report.outcomes for s in o.sites]
    assert sorted(sites) == ["bad", "good"]
    assert all(o.status is Status.FAILED for o in result.report.outcomes)
    assert [n.op_type for n in result.model.to_proto().graph.node] == ["Abs", "Abs", "Mul", "Add"]
