"""bool-ends-to-float32: inputs and outputs of bools, by consent."""

import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Status, Verdict

PASS = "bool-ends-to-float32"
TEXT = """<ir_version: 8, opset_import: ["" : 11]> g (bool[3] x, bool[2, 3] z) => (bool[2, 3] y)
  {{ {body} }}"""


@pytest.mark.parametrize(
    "body",
    [
        "y = And (x, z)",
        "n = Not (x)  o = Or (n, z)  y = Xor (o, x)",
        "a = Cast <to = 1> (x)  b = Cast <to = 1> (z)  s = Add (a, b)  y = Cast <to = 9> (s)",
    ],
)
def test_by_consent_ncnn_takes_it_and_computes_the_same(body: str) -> None:
    model = onnx.parser.parse_model(TEXT.format(body=body))
    result = graphfix.run(
        model, target="ncnn1.0", trust_rules=True, allow_io_change=True, verify="full"
    )
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert result.report.verification.status is Verdict.EQUAL
    assert result.report.io_changes == tuple(IoChange(n, "bool", "float32") for n in "xzy")
    assert not {n.op_type for n in result.model.to_proto().graph.node} & {"And", "Or", "Not", "Xor"}


def test_not_without_consent() -> None:
    model = onnx.parser.parse_model(TEXT.format(body="y = And (x, z)"))
    result = graphfix.run(model, target="ncnn1.0", verify="off")
    assert (result.exit_code, result.report.io_changes) == (1, ())
    refused = [o for o in result.report.outcomes if o.status is Status.REFUSED]
    assert (PASS, "needs --allow-io-change") in [(o.pass_id, o.reason) for o in refused]


def test_an_engine_that_takes_bools_keeps_them() -> None:
    model = onnx.parser.parse_model(TEXT.format(body="y = And (x, z)"))
    result = graphfix.run(model, target="trt8", allow_io_change=True, verify="off")
    assert result.report.io_changes == ()
