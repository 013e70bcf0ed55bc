"""bfloat16-ends-to-float32: inputs and outputs of bfloat16, by consent."""

import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Verdict

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (bfloat16[N, 3] x) => (bfloat16[a, b] y) {{
  {body} }}"""


@pytest.mark.parametrize(
    "body",
    [
        "y = Concat <axis = 0> (x, x)",
        "z = Transpose (x)  w = MatMul (x, z)  y = Relu (w)",
        "z = Cast <to = 1> (x)  w = Floor (z)  y = Cast <to = 16> (w)",
    ],
)
def test_by_consent(body: str) -> None:
    model = onnx.parser.parse_model(TEXT.format(body=body))
    result = graphfix.run(model, target="trt8", allow_io_change=True, verify="full")
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL
    assert result.report.io_changes == (
        IoChange("x", "bfloat16", "float32"),
        IoChange("y", "bfloat16", "float32"),
    )


def test_not_without_consent() -> None:
    model = onnx.parser.parse_model(TEXT.format(body="y = Neg (x)"))
    result = graphfix.run(model, target="trt8", verify="off")
    assert result.exit_code == 1
    assert result.report.io_changes == ()
