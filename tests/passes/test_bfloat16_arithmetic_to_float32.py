"""bfloat16-arithmetic-to-float32: by consent, though other values come out."""

import onnx

import graphfix
from graphfix.report import LOSSY
from graphfix.testing import run_pass
from tests.passes.bfloat16_models import network

PASS = "bfloat16-arithmetic-to-float32"
SKIP = ("bfloat16-to-float32",)


def test_by_consent() -> None:
    result = graphfix.run(network(), target="trt8", skip=SKIP, allow_lossy=True)
    assert result.exit_code == 0
    assert not any(f.blocks for f in result.report.findings_after)
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert {site.accuracy for site in outcome.sites} == {LOSSY}


def test_not_without_consent() -> None:
    result = graphfix.run(network(), target="trt8", skip=SKIP)
    assert result.exit_code == 1
    assert "dtype:bfloat16" in {f.feature for f in result.report.findings_after}


def test_to_name_it_is_no_consent() -> None:
    result = graphfix.run(network(), passes=[PASS], verify="off")
    assert [o.reason for o in result.report.outcomes] == ["needs --allow-lossy"]
    assert result.model.to_proto() == network()


def test_refuses_subgraphs() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[3] x) => (float[3] y) {
      q = Cast <to = 16> (x)
      r = If (c) <then_branch = t () => (bfloat16[3] a) { a = Identity (q) },
                  else_branch = e () => (bfloat16[3] b) { b = Identity (q) }>
      y = Cast <to = 1> (r) }"""
    done = run_pass(PASS, onnx.parser.parse_model(text))
    assert done.reasons == ["the subgraphs of If get or give bfloat16"]
