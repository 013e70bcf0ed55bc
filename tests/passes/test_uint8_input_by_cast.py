"""uint8 inputs that are only cast: changed by consent, reported, compared on the same values."""

import onnx

import graphfix
from graphfix.report import IoChange, Status, Verdict

TEXT = """<ir_version: 8, opset_import: ["": 13]>
g (uint8[2,3] x, float[3] w) => (float[2,3] y) {{ f = Cast <to = {to}> (x) {rest} }}"""
FLOAT = TEXT.format(to=1, rest="y = Mul (f, w)")


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def test_by_consent_the_input_gets_the_type_of_its_cast() -> None:
    result = graphfix.run(model(FLOAT), target="trt8.2", allow_io_change=True, verify="full")
    proto = result.model.to_proto()
    assert result.exit_code == 0
    assert [n.op_type for n in proto.graph.node] == ["Mul"]
    assert proto.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert result.report.io_changes == (IoChange("x", "uint8", "float32"),)
    assert result.report.verification.status is Verdict.EQUAL


def test_without_consent_nothing_changes_and_the_reason_is_said() -> None:
    result = graphfix.run(model(FLOAT), target="trt8.2", verify="full")
    assert result.exit_code == 1
    assert result.model.to_proto() == model(FLOAT)
    refused = [o for o in result.report.outcomes if o.status is Status.REFUSED]
    assert [(o.pass_id, o.reason) for o in refused] == [
        ("uint8-ends-to-int32", "needs --allow-io-change"),
        ("uint8-input-by-cast", "needs --allow-io-change"),
    ]


def test_an_engine_that_takes_uint8_is_left_its_input() -> None:
    result = graphfix.run(model(FLOAT), target="trt8.6", allow_io_change=True, verify="full")
    assert result.report.io_changes == ()


def test_a_cast_to_what_holds_no_bytes_stays_after_int32() -> None:
    text = TEXT.format(to=9, rest="g2 = Cast <to = 1> (f) y = Mul (g2, w)")
    result = graphfix.run(model(text), target="trt8.2", allow_io_change=True, verify="full")
    assert result.report.io_changes == (IoChange("x", "uint8", "int32"),)
    assert [n.op_type for n in result.model.to_proto().graph.node] == ["Cast", "Cast", "Mul"]
    assert result.report.verification.status is Verdict.EQUAL


def test_casts_to_several_types_go_through_int32() -> None:
    text = """<ir_version: 8, opset_import: ["": 13]>
    g (uint8[2,3] x) => (float[2,3] y, int64[2,3] z) {
      y = Cast <to = 1> (x)  z = Cast <to = 7> (x)
    }"""
    result = graphfix.run(model(text), target="trt8.2", allow_io_change=True, verify="full")
    assert result.report.io_changes == (IoChange("x", "uint8", "int32"),)
    assert result.report.verification.status is Verdict.EQUAL
