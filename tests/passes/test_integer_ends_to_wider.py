"""integer-ends-to-wider: inputs and outputs of 16 bits and uint32, by consent."""

import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Status, Verdict

PASS = "integer-ends-to-wider"
TEXT = """<ir_version: 8, opset_import: ["" : 17]> g ({kind}[2, 3] x) => ({kind}[a, b] y) {{
  {body} }}"""


@pytest.mark.parametrize(
    ("kind", "body", "new"),
    [
        ("uint16", "y = Transpose (x)", "int32"),
        ("int16", "z = Concat <axis = 0> (x, x)  y = Add (z, z)", "int32"),
        ("uint32", "z = Add (x, x)  y = Sub (z, x)", "int64"),
        ("uint16", "z = Cast <to = 1> (x)  w = Floor (z)  y = Cast <to = 4> (w)", "int32"),
    ],
)
def test_by_consent(kind: str, body: str, new: str) -> None:
    model = onnx.parser.parse_model(TEXT.format(kind=kind, body=body))
    result = graphfix.run(model, target="trt10", allow_io_change=True, verify="full")
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL
    assert result.report.io_changes == (IoChange("x", kind, new), IoChange("y", kind, new))
    graph = result.model.to_proto().graph
    wanted = {"int32": onnx.TensorProto.INT32, "int64": onnx.TensorProto.INT64}[new]
    for info in (*graph.input, *graph.output):
        assert info.type.tensor_type.elem_type == wanted


def test_not_without_consent() -> None:
    model = onnx.parser.parse_model(TEXT.format(kind="int16", body="y = Transpose (x)"))
    result = graphfix.run(model, target="trt8", verify="full")
    assert result.exit_code == 1
    refused = [o.reason for o in result.report.outcomes if o.status is Status.REFUSED]
    assert "needs --allow-io-change" in refused
    assert result.model.to_proto() == model


def test_a_node_with_subgraphs_is_refused() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (bool c, uint16[3] x) => (uint16[3] y) {
      y = If (c) <then_branch = t () => (uint16[3] a) { a = Identity (x) },
                  else_branch = e () => (uint16[3] b) { b = Abs (x) }> }"""
    model = onnx.parser.parse_model(text)
    result = graphfix.run(model, passes=[PASS], allow_io_change=True, verify="off")
    reasons = [o.reason for o in result.report.outcomes if o.pass_id == PASS]
    assert "a node without subgraphs must compute output y; If has some" in reasons
