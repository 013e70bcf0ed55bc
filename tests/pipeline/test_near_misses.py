"""Why a pattern does not match: of passes that are named, and of those for a finding."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import graphfix
from graphfix.cli import main
from graphfix.errors import UsageError
from graphfix.pipeline.files import CheckRequest, check_file
from graphfix.report import Status
from graphfix.report.explanations import Choice
from graphfix.testing import unmatched


def test_a_named_pattern_that_is_nowhere_says_where_it_came_nearest() -> None:
    text = """<ir_version: 8, opset_import: ["" : 20]> g (float[N] x) => (float[N] y)
        <float k = {1.414}, float one = {1.0}, float half = {0.5}>
        { d = Div (x, k) e = Erf (d) a = Add (e, one) m = Mul (x, a) y = Mul (m, half) }"""
    result = graphfix.run(onnx.parser.parse_model(text), passes=["gelu-fusion", "mish-fusion"])
    gelu, mish = result.report.outcomes
    assert (gelu.status, mish.status) == (Status.NOT_NEEDED, Status.NOT_NEEDED)
    assert gelu.reason == (
        "the nearest is no match: input 1 of Div 'd' must be the number 1.4142135623730951; "
        "it is 1.4140000343322754"
    )
    assert [site.node.outputs for site in gelu.sites] == [("y",)]
    assert mish.reason == ""


def test_explain_says_why_a_pattern_for_a_finding_does_not_match(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        '''
from graphfix.authoring import rewrite


@rewrite.pattern
def gated(find, x):
    return find.Mish(find.Exp(find.Neg(x)))


@rewrite(gated, removes="op:Mish", emits="Abs")
def mish_of_exp(match, build):
    """Replace Mish of an exponential."""
    return build.Abs(match["x"])
''',
        encoding="utf-8",
    )
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (float[4] y)
        { e = Exp (x) y = Mish (e) }"""
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    request = CheckRequest(path, target="trt8", explain=True, pass_files=(source,))
    (known,) = [e for e in check_file(request).explanations if e.finding.feature == "op:Mish"]
    (mine,) = [c for c in known.candidates if c.pass_id == "mish-of-exp"]
    assert (mine.choice, mine.reason) == (
        Choice.REFUSED,
        "input 0 of Exp 'e' must be computed by Neg; it is 'x', an input",
    )


def test_what_a_user_reads_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[N] x) => (float[N] y)
        { p = Softplus (x) t = Sin (p) y = Mul (x, t) }"""
    (tmp_path / "m.onnx").write_bytes(onnx.parser.parse_model(text).SerializeToString())
    arguments = ["run", str(tmp_path / "m.onnx"), "--passes", "mish-fusion,swish-fusion"]
    assert main([*arguments, "-o", str(tmp_path / "o.onnx")]) == 1
    reported = " ".join(capsys.readouterr().out.split())
    assert reported.endswith("Not done mish-fusion not needed swish-fusion not needed")
    assert "is no match" not in reported  # no Mul is after a Tanh or a Sigmoid
    assert unmatched("mish-fusion", text) == [
        "Mul 'y': input 1 of Mul 'y' must be computed by Tanh; it is computed by Sin 't'"
    ]


def test_a_pass_without_a_pattern_is_no_question() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[N] x) => (float[N] y)
        { y = Neg (x) }"""
    with pytest.raises(UsageError, match="has no pattern"):
        unmatched("mod-elimination", text)
