"""text-form-to-binary: the message that a text says, written as one."""

from pathlib import Path

from google.protobuf import text_format
from onnx import parser

import graphfix
from graphfix.ir.storage.reading import read_model
from graphfix.report import Status

PASS = "text-form-to-binary"
MODEL = parser.parse_model(
    """<ir_version: 8, opset_import: ["" : 17]> g (float[N] x, bool c) => (float[N] y)
    { y = If (c) <then_branch = a () => (float[N] t) { t = Relu (x) },
                  else_branch = b () => (float[N] e) { e = Neg (x) }> }"""
)


def test_a_text_is_written_as_a_message(tmp_path: Path) -> None:
    source, out = tmp_path / "m.pbtxt", tmp_path / "out.onnx"
    source.write_text(text_format.MessageToString(MODEL), encoding="utf-8")
    result = graphfix.run(source, passes=[PASS])
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert outcome.status is Status.APPLIED
    graphfix.save(result.model, out)
    assert read_model(out).proto.graph == MODEL.graph


def test_a_message_is_left_alone(tmp_path: Path) -> None:
    source = tmp_path / "m.onnx"
    source.write_bytes(MODEL.SerializeToString())
    result = graphfix.run(source, passes=[PASS])
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert outcome.status is Status.NOT_NEEDED
