"""uint8-ends-to-int32: bytes that come in and go out, by consent."""

import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Verdict
from graphfix.testing import assert_untouched

PASS = "uint8-ends-to-int32"
TEXT = (
    """<ir_version: 8, opset_import: ["" : 17]> g (uint8[N, 3] x) => ({out}[a, b] y) {{ {body} }}"""
)


@pytest.mark.parametrize(
    ("out", "body"),
    [
        ("uint8", "y = Transpose (x)"),
        ("uint8", "z = Cast <to = 1> (x)  w = Floor (z)  y = Cast <to = 2> (w)"),
        ("float", "z = Concat <axis = 1> (x, x)  y = Cast <to = 1> (z)"),
        ("float", "z = Mul (x, x)  w = Cast <to = 1> (x)  v = Cast <to = 1> (z)  y = Add (v, w)"),
    ],
)
def test_by_consent(out: str, body: str) -> None:
    model = onnx.parser.parse_model(TEXT.format(out=out, body=body))
    result = graphfix.run(model, target="trt8.2", allow_io_change=True, verify="full")
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL
    changes = {change.name: (change.old, change.new) for change in result.report.io_changes}
    assert changes["y" if out == "uint8" else "x"] == ("uint8", "int32")


def test_an_engine_that_takes_bytes_keeps_them() -> None:
    model = onnx.parser.parse_model(TEXT.format(out="uint8", body="y = Transpose (x)"))
    result = graphfix.run(model, target="trt8.6", allow_io_change=True, verify="off")
    assert result.report.io_changes == ()


def test_inputs_that_are_only_cast_are_left_to_another_pass() -> None:
    model = onnx.parser.parse_model(TEXT.format(out="float", body="y = Cast <to = 1> (x)"))
    result = graphfix.run(model, target="trt8.2", allow_io_change=True, verify="full")
    assert result.report.io_changes == (IoChange("x", "uint8", "float32"),)
    assert_untouched(PASS, model)


def test_a_body_that_reads_the_input_is_refused() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (bool c, uint8[3] x) => (float[3] y) {
      y = If (c) <then_branch = t () => (float[3] a) { q = Mul (x, x)  a = Cast <to = 1> (q) },
                  else_branch = e () => (float[3] b) { b = Cast <to = 1> (x) }> }"""
    result = graphfix.run(
        onnx.parser.parse_model(text), target="trt8.2", allow_io_change=True, verify="full"
    )
    assert result.exit_code == 0
    assert result.report.io_changes == (IoChange("x", "uint8", "int32"),)
    assert result.report.verification.status is Verdict.EQUAL
