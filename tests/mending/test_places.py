"""Where a file may be mixed: in functions, after an If or a Loop, in a Scan, and out of order."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.report import MENDED, Status, Verdict
from graphfix.testing import outputs_of, parse
from graphfix.validity.examination import types_said

HEAD = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]> '
CALLED = '<domain: "my", opset_import: ["" : 17]> f (a, b) => (c) { d = Mul (a, b) c = Neg (d) }'
SCAN = (
    "g (float[2] s, float[3,2] x) => (float[2] e, float[3,2] y) { e, y = Scan <num_scan_inputs = 1,"
    "body = b (float[2] t, float[2] r) => (float[2] u, float[2] v) { w = Add (t, r) "
    "u = Cast <to = 10> (w) v = Neg (w) }> (s, x) }"
)
X = {"x": np.array([1, 2], np.float32), "h": np.array([3, 5], np.float16)}


def run(text: str) -> graphfix.Result:
    return graphfix.run(parse(HEAD + text), "ort-1.32", allow_mended=True)


def readings(result: graphfix.Result) -> list[str]:
    return [s.note for o in result.report.outcomes for s in o.sites if s.accuracy is MENDED]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "g (float[2] x, float16[2] h, bool c) => (float[2] y) { z = If (c) <then_branch = t () "
            "=> (float[2] a) { a = Neg (x) }, else_branch = e () => (float[2] b) { b = Abs (x) }> "
            "y = Mul (z, h) }",
            "Mul gets z (float32 of unknown rank) and h (float16[2]), which must be of one type",
        ),
        (
            "g (float[2] x, float16[2] h, bool c) => (float[2] y) <int64 n = {1}> { z = Loop (n, , "
            "x) <body = b (int64 i, bool ci, float[2] s) => (bool co, float[2] t) "
            "{ co = Identity (ci) t = Abs (s) }> y = Mul (z, h) w = Identity (c) }",
            "Mul gets z (float32 of unknown rank) and h (float16[2]), which must be of one type",
        ),
    ],
    ids=["If", "Loop"],
)
def test_what_an_if_or_a_loop_gives_has_a_type(text: str, found: str) -> None:
    result = run(text)
    assert found in [f.message for f in result.report.findings_before]
    assert result.exit_code == 0
    assert result.report.reading is not None
    assert result.report.reading.status is Verdict.EQUAL
    given = outputs_of(result.model.to_proto(), {**X, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(given, np.array([3, 10], np.float32))


def test_a_function_stays_where_the_fault_is_elsewhere() -> None:
    text = "g (float[2] x, float16[2] h) => (float[2] y) { z = Mul (x, h) y = my.f (z, z) } "
    model = graphfix.load(parse(HEAD + text + CALLED))
    result = graphfix.run(model, passes=["mixed-types-read"], allow_mended=True)
    assert [f.name for f in result.model.to_proto().functions] == ["f"]
    assert types_said(result.model) == ""


def test_what_a_function_gives_is_mixed_with_something_else() -> None:
    text = "g (float[2] x, float16[2] h) => (float[2] y) { z = my.f (h, h) y = Mul (z, x) } "
    result = run(text + CALLED)
    assert result.exit_code == 0, result.report
    assert readings(result) == [
        "z (float16) is read as float32: the float16 operand is widened to float32, as NumPy and "
        "PyTorch promote"
    ]


def test_a_state_that_changes_its_type_is_no_wrong_declaration() -> None:
    result = run(SCAN)
    assert result.exit_code == 0, result.report
    applied = {o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED}
    assert "mixed-types-read" in applied
    assert "declared-type-correction" not in applied
    feed = {"s": np.array([1, 2], np.float32), "x": np.ones((3, 2), np.float32)}
    given = outputs_of(result.model.to_proto(), feed)
    np.testing.assert_array_equal(given["e"], np.array([4, 5], np.float32))


def test_nodes_out_of_order_are_read_once_they_are_in_order() -> None:
    result = run("g (float[2] x, float16[2] h) => (float[2] y) { y = Mul (v, h) v = Neg (x) }")
    assert result.exit_code == 0, result.report
    assert len(readings(result)) == 1


def test_a_valid_file_out_of_order_is_not_read() -> None:
    result = run("g (float[2] x) => (float[2] y) { y = Abs (v) v = Neg (x) }")
    assert (result.exit_code, readings(result)) == (0, [])
    assert result.report.reading is None


def test_a_size_that_is_declared_and_wrong_is_no_matter_of_types() -> None:
    model = parse(HEAD + "g (float[2] x) => (float[2] y) { v = Neg (x) y = Abs (v) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("v", 1, [3]))
    assert types_said(graphfix.load(model)) == ""
    model.graph.value_info[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    assert "differs from existing elem type" in types_said(graphfix.load(model))


def test_a_scan_is_compared_with_the_sizes_that_it_has() -> None:
    text = SCAN.replace("u = Cast <to = 10> (w)", "u = Identity (w)").replace("v = Neg", "q = Neg")
    valid = text.replace("(float[2] u, float[2] v)", "(float[2] u, float[2] q)")
    result = graphfix.run(parse(HEAD + valid), "trt8.6")
    assert result.report.verification.status is Verdict.EQUAL, result.report.verification
