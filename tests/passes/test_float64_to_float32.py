"""float64-to-float32: what is between nodes as float64."""

import onnx

import graphfix
from graphfix.report import APPROXIMATE, Verdict
from tests.passes.lowering_models import written

PASS = "float64-to-float32"


def test_a_target_without_float64_takes_the_result() -> None:
    text = written(
        "@q = Cast <to = 11> (x)\n@r = Exp (@q)\n@y = Cast <to = 1> (@r)",
        "float[2, 3] x",
        "float[2, 3]",
    )
    result = graphfix.run(onnx.parser.parse_model(text), target="trt7", verify="full")
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert {site.accuracy for site in outcome.sites} == {APPROXIMATE}
