"""float64-ends-to-float32: inputs and outputs of float64, by consent to both things it costs."""

import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Status, Verdict

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (double[2, N] x) => (double[2, N] y) {
  y = Sin (x) }"""


def test_by_consent() -> None:
    result = graphfix.run(
        onnx.parser.parse_model(TEXT), target="trt7", allow_io_change=True, allow_lossy=True
    )
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.LOSSY
    assert result.report.verification.outputs[0].max_abs is not None
    assert result.report.verification.outputs[0].max_abs < 1e-6
    assert result.report.io_changes == (
        IoChange("x", "float64", "float32"),
        IoChange("y", "float64", "float32"),
    )


@pytest.mark.parametrize(
    ("io", "lossy", "missing"),
    [
        (False, False, "needs --allow-io-change and --allow-lossy"),
        (True, False, "needs --allow-lossy"),
        (False, True, "needs --allow-io-change"),
    ],
)
def test_what_is_missing_is_said(io: bool, lossy: bool, missing: str) -> None:
    model = onnx.parser.parse_model(TEXT)
    result = graphfix.run(model, target="trt7", verify="off", allow_io_change=io, allow_lossy=lossy)
    assert result.exit_code == 1
    refused = {o.reason for o in result.report.outcomes if o.status is Status.REFUSED}
    assert missing in refused
    assert result.report.io_changes == ()


def test_an_engine_that_takes_float64_keeps_it() -> None:
    result = graphfix.run(
        onnx.parser.parse_model(TEXT), target="trt8", allow_io_change=True, allow_lossy=True
    )
    assert result.report.io_changes == ()
