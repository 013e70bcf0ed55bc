"""integer-ends-to-float32: inputs and outputs of int32 and int64, by consent to both things."""

import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Status

PASS = "integer-ends-to-float32"
TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (KIND[2, 3] x) => (KIND[2, 3] y) {
  y = Neg (x) }"""


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_by_consent(kind: str) -> None:
    model = onnx.parser.parse_model(TEXT.replace("KIND", kind))
    result = graphfix.run(
        model, target="ncnn1.0", trust_rules=True, allow_io_change=True, allow_lossy=True
    )
    assert (result.exit_code, result.report.findings_after) == (0, ())
    assert result.report.io_changes == (
        IoChange("x", kind, "float32"),
        IoChange("y", kind, "float32"),
    )


def test_not_without_consent() -> None:
    result = graphfix.run(
        onnx.parser.parse_model(TEXT.replace("KIND", "int64")), target="ncnn1.0", verify="off"
    )
    assert (result.exit_code, result.report.io_changes) == (1, ())
    refused = [o for o in result.report.outcomes if o.status is Status.REFUSED]
    assert (PASS, "needs --allow-io-change and --allow-lossy") in [
        (o.pass_id, o.reason) for o in refused
    ]
