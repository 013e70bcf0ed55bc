"""float16-ends-to-float32: inputs and outputs of float16, by consent."""

import onnx

import graphfix
from graphfix.report import IoChange, Status

PASS = "float16-ends-to-float32"
TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float16[2, 3] x) => (float16[2, 3] y) {
  y = Neg (x) }"""


def test_by_consent() -> None:
    model = onnx.parser.parse_model(TEXT)
    result = graphfix.run(model, target="ncnn1.0", trust_rules=True, allow_io_change=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert result.report.io_changes == (
        IoChange("x", "float16", "float32"),
        IoChange("y", "float16", "float32"),
    )


def test_not_without_consent() -> None:
    result = graphfix.run(onnx.parser.parse_model(TEXT), target="ncnn1.0", verify="off")
    assert (result.exit_code, result.report.io_changes) == (1, ())
    refused = [o for o in result.report.outcomes if o.status is Status.REFUSED]
    assert (PASS, "needs --allow-io-change") in [(o.pass_id, o.reason) for o in refused]
