"""What is left to do is said with the option that would help, and the model's own names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import graphfix
from graphfix.rendering.short_lines import next_steps
from graphfix.testing import parse


def _steps(proto: onnx.ModelProto, target: str, *assumed: str) -> str:
    result = graphfix.run(proto, target, assume_ops=assumed, verify="off")
    assert result.exit_code == 1
    return " ".join(next_steps(result.report, result.exit_code))


def test_an_open_size_of_an_input_is_named_with_the_option_that_fixes_it() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N,4,H,H] x, float[N,W] w) => '
        "(float[a,b] y, float[N,W] z) { y = Det (x) z = Relu (w) }"
    )
    reported = _steps(proto, "trt8")
    assert (
        "`--shape x=1x4x8x8 --shape w=1x7` with your own sizes fixes what is open "
        "(x is [N, 4, H, H]; w is [N, W])"
    ) in reported


def test_what_is_computed_of_sizes_is_no_operator_to_be_cut_out() -> None:
    """Fixed sizes settle what an engine takes from constants alone, and are advised first."""
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N,3,H,W] x) => (y) '
        "{ s = Shape (x) k = ConstantOfShape <value = float[1] {2.0}> (s) y = Mul (x, k) }"
    )
    result = graphfix.run(proto, "rknn2.3", verify="off")
    assert result.exit_code == 1
    assert set(result.report.sized) == {f.feature for f in result.report.findings_after if f.blocks}
    steps = next_steps(result.report, result.exit_code)
    assert steps[0].startswith("`--shape x=1x3x8x7` with your own sizes fixes what is open")
    assert "what is computed of sizes is constant then" in steps[0]
    assert "No repair is known" not in " ".join(steps)
    fixed = graphfix.run(proto, "rknn2.3", verify="off", shapes={"x": (1, 3, 8, 7)})
    assert (fixed.exit_code, fixed.report.sized) == (0, ())


def test_a_model_of_fixed_sizes_gets_no_such_advice() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g (float[2] x) => (float[2] y) '
        "{ y = acme.Foo (x) }"
    )
    reported = _steps(proto, "trt8")
    assert "--shape" not in reported
    assert "`--assume-op acme::Foo`" in reported


def test_a_name_that_onnx_does_not_have_may_be_a_plugin_in_its_domain_too() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Fake_1 (x) }'
    )
    reported = _steps(proto, "trt8")
    assert "`--assume-op Fake_1`" in reported
    assert "--split" not in reported


def test_an_operator_of_onnx_that_no_pass_removes_is_left_to_the_application() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (string[N] x) => (string[M] y) '
        '{ y = StringNormalizer <case_change_action = "LOWER"> (x) }'
    )
    reported = _steps(proto, "trt8")
    assert (
        "No repair is known for StringNormalizer; `graphfix edit MODEL --split TENSOR=" in reported
    )
    assert "--assume-op" not in reported


def test_types_that_no_one_knows_are_asked_for_by_their_option() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g (float[N] x) => (float[M] y) '
        "{ a = acme.Foo (x) y = Exp (a) }"
    )
    reported = _steps(proto, "trt8", "acme::Foo")
    assert "`--op-type acme::Foo=like:0`" in reported
    assert "--assume-op" not in reported
    assert "--shape" not in reported


def test_warnings_of_libraries_do_not_reach_the_user(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) '
        "<float[2] big = {300.0, 300.0}, float[2] neg = {-1.0, 0.0}> "
        "{ a = Exp (big) b = Log (neg) c = Div (b, neg) d = Add (a, c) y = Add (x, d) }"
    )
    path.write_bytes(proto.SerializeToString())
    for words in (["check", "--target", "trt8.6"], ["inspect"], ["run", "--target", "trt8.6"]):
        line = [sys.executable, "-m", "graphfix", words[0], str(path), *words[1:]]
        done = subprocess.run(line, capture_output=True, check=False, text=True)
        assert (done.stderr, done.returncode in (0, 1)) == ("", True)


LINEAR = (
    '<ir_version: 8, opset_import: ["" : 11]> g (float[N,3,H,W] x, float[8] roi) '
    "=> (float[a,b,c,d] y) <float[4] s = {{1.0, 1.0, 2.0, 2.0}}> "
    '{{ y = Resize <mode = "{}"> (x, roi, s) }}'
)


def test_a_lossy_pass_that_was_never_tried_is_offered_with_its_option() -> None:
    proto = parse(LINEAR.format("linear"))
    result = graphfix.run(proto, "trt7.0", verify="off")
    assert result.exit_code == 1
    assert any(
        o.pass_id == "resize-linear-to-nearest" and o.reason == "lossy, and needs --allow-lossy"
        for o in result.report.outcomes
    )
    reported = " ".join(next_steps(result.report, result.exit_code))
    assert "`--allow-lossy` lets resize-linear-to-nearest run" in reported
    assert "--allow-io-change" not in reported


def test_a_lossy_pass_that_would_refuse_is_not_offered_and_says_why() -> None:
    result = graphfix.run(parse(LINEAR.format("cubic")), "trt7.0", verify="off")
    reported = " ".join(next_steps(result.report, result.exit_code))
    assert "--allow-lossy" not in reported
    reasons = {(o.pass_id, o.reason) for o in result.report.outcomes}
    assert ("resize-linear-to-nearest", "the mode must be linear; it is cubic") in reasons


def test_nothing_is_offered_once_it_is_consented_to() -> None:
    result = graphfix.run(parse(LINEAR.format("cubic")), "trt7.0", verify="off", allow_lossy=True)
    assert "--allow-lossy" not in " ".join(next_steps(result.report, result.exit_code))


def test_a_pass_that_changes_the_interface_is_offered_with_its_option() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (uint8[1,3] x) => (float[1,3] y) '
        "{ t = Cast <to = 1> (x) y = Relu (t) }"
    )
    reported = _steps(proto, "trt8.2")
    assert "`--allow-io-change` lets" in reported
    assert "uint8-input-by-cast" in reported
    assert "--allow-lossy" not in reported


def test_a_problem_that_no_consent_removes_gets_no_such_advice() -> None:
    reported = _steps(
        parse(
            '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g (float[2] x) => (float[2] y) '
            "{ y = acme.Foo (x) }"
        ),
        "trt8",
    )
    assert "--allow-" not in reported


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (
            "com.microsoft.LayerNormalization (x, s)",
            "`--op-alias com.microsoft::LayerNormalization=LayerNormalization`",
        ),
        ("acme.Relu (x)", "`--op-alias acme::Relu=Relu`"),
        ("FastGelu (x)", "`--op-alias FastGelu=com.microsoft::FastGelu`"),
        ("acme.FastGelu (x)", "`--op-alias acme::FastGelu=com.microsoft::FastGelu`"),
    ],
)
def test_a_name_that_others_have_is_offered_as_theirs(node: str, wanted: str) -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1, "com.microsoft" : 1]> '
        f"g (float[2, 4] x) => (float[2, 4] y) <float[4] s = {{1, 1, 1, 1}}> {{ y = {node} }}"
    )
    assert wanted in _steps(proto, "trt8")


def test_a_name_that_no_one_has_is_not_offered() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g (float[2] x) => (float[2] y) '
        "{ y = acme.Foo (x) }"
    )
    assert "--op-alias" not in _steps(proto, "trt8")
