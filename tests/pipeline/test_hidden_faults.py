"""A fault of a file hides others from the checker: each is found, and none is called repaired."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.report import Report
from graphfix.testing import outputs_of

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> '
# The nodes are out of order, and each output is another one than declared.
UNSORTED = HEAD + "g (float[2] x) => ({y} y) {{ y = Neg (a) a = Exp (x) }}"
IN_A_BODY = (
    HEAD
    + """g (float[2] x, int64 n) => ({y} y) <bool c = {{1}}> {{
    y = Loop (n, c, x) <body = b ({i} i, {k} k, float[2] s) => (bool d, float[2] t) {{
        t = Neg (a) a = Exp (s) d = Identity (k) }}> }}"""
)
BYTES = (
    HEAD
    + """g (uint8[2] x) => ({y}[2] y) <float s = {{0.5}}, uint8 z = {{3}}>
    {{ y = com.microsoft.QLinearSigmoid (x, s, z, s, z) }}"""
)
CALLED = """<ir_version: 8, opset_import: ["" : 13, "local" : 1]>
g (int8[5] x, int8[2] w) => (float[5] y, int8 z)
<double[5] s = {0.5, 0.25, 0.5, 0.5, 1}, int32[2] p = {0, 1}> {
    y = local.F (x, s)
    z = Pad <mode = "edge"> (w, p)
}
<domain: "local", opset_import: ["" : 13]>
F (i, j) => (o) { o = DequantizeLinear <axis = 0> (i, j) }"""
X = {"x": np.array([0.5, -1.0], np.float32)}


def rules(report: Report) -> list[str]:
    return sorted(f.rule for f in report.findings_before if f.blocks)


def test_a_type_declared_wrongly_is_seen_through_the_wrong_order() -> None:
    model = parser.parse_model(UNSORTED.format(y="double[2]"))
    for target in ("trt10", "ort-1.32"):
        left = graphfix.run(model, target=target)
        assert left.exit_code == 1
        assert "output-type-declared" in rules(left.report)
        done = graphfix.run(model, target=target, allow_mended=True)
        assert done.exit_code == 0
        y = outputs_of(done.model.to_proto(), X)["y"]
        assert y.dtype == np.float64
        np.testing.assert_allclose(y, -np.exp(X["x"]), rtol=1e-6)


def test_the_order_alone_is_put_right() -> None:
    done = graphfix.run(parser.parse_model(UNSORTED.format(y="float[2]")), target="ort-1.32")
    assert done.exit_code == 0
    assert [n.op_type for n in done.model.to_proto().graph.node] == ["Exp", "Neg"]
    np.testing.assert_allclose(outputs_of(done.model.to_proto(), X)["y"], -np.exp(X["x"]))


def test_an_attribute_that_is_unknown_is_seen_through_the_wrong_order() -> None:
    text = UNSORTED.format(y="float[2]").replace("Neg (", "Neg <strange = 1> (")
    found = graphfix.run(parser.parse_model(text), target="trt10").report
    assert "unknown-attribute" in {f.rule for f in found.findings_before}


@pytest.mark.parametrize(("i", "k"), [("float", "bool"), ("int64", "int64"), ("int64", "bool")])
@pytest.mark.parametrize("called", [False, True])
def test_what_a_body_counts_with_has_its_types(i: str, k: str, called: bool) -> None:
    text = IN_A_BODY.format(y="float[2]", i=i, k=k)
    if called:  # inference sees less of a file with functions
        text = text.replace("{\n    y =", "{ u = local.F (x)\n    y =", 1)
        text = text.replace('"com.microsoft" : 1', '"local" : 1')
        text += ' <domain: "local", opset_import: ["" : 17]> F (p) => (q) { q = Abs (p) }'
    model = parser.parse_model(text)
    done = graphfix.run(model, target="ort-1.32")
    right = (i, k) == ("int64", "bool")
    assert done.exit_code == (0 if right else 1)
    assert ("type-contradiction" in rules(done.report)) is not right
    if right:
        y = outputs_of(done.model.to_proto(), {**X, "n": np.array(2)})["y"]
        np.testing.assert_allclose(y, -np.exp(-np.exp(X["x"])), rtol=1e-6)


@pytest.mark.parametrize(("state", "code"), [("float", 1), ("int32", 1), ("int64", 0)])
def test_a_state_that_nothing_reads_has_its_type(state: str, code: int) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 18]> g (int64[1] c, int64 k) => (int64[1] y) {{
    y = Loop (k, , c) <body = b (int64 i, bool q, {state}[1] s) => (bool d, int64[1] t) {{
        d = Identity (q) t = Neg (c) }}> }}"""
    done = graphfix.run(parser.parse_model(text), target="ort-1.32")
    assert done.exit_code == code
    assert ("type-contradiction" in rules(done.report)) is bool(code)
    if not code:
        fed = {"c": np.array([4]), "k": np.array(2)}
        np.testing.assert_array_equal(outputs_of(done.model.to_proto(), fed)["y"], [-4])


def test_a_type_is_seen_that_no_schema_gives() -> None:
    wrong = graphfix.run(parser.parse_model(BYTES.format(y="float")), target="ort-1.32")
    assert wrong.exit_code == 1
    (left,) = (f for f in wrong.report.findings_after if f.blocks)
    assert left.rule == "output-type-declared"
    assert left.message.endswith("output y is declared as float32[2]")
    assert (
        graphfix.run(parser.parse_model(BYTES.format(y="uint8")), target="ort-1.32").exit_code == 0
    )


def test_a_file_of_which_no_valid_one_is_made_is_the_one_at_fault() -> None:
    model = parser.parse_model(CALLED)
    with pytest.raises(graphfix.InvalidModel, match="has unsupported type"):
        graphfix.run(model, target="openvino", allow_mended=True)


def test_a_domain_that_is_not_imported_is_read_all_the_same() -> None:
    text = BYTES.format(y="uint8").replace(', "com.microsoft" : 1', "").replace("0.5", "0.01")
    text = text.replace("uint8[2] y)", "uint8[2] y, float[2] v)")
    text = text.replace(
        "{ y =", "{ w = Cast <to = 1> (y) d = Cast <to = 11> (w) v = Add (w, d) y ="
    )
    done = graphfix.run(parser.parse_model(text), target="ort-1.32", allow_mended=True)
    assert done.exit_code == 0
    after = done.model.to_proto()
    assert {each.domain for each in after.opset_import} == {"", "com.microsoft"}
    found = outputs_of(after, {"x": np.array([3, 255], np.uint8)})
    np.testing.assert_array_equal(found["y"], [53, 96])  # 3 + 100 / (1 + exp(-(x - 3) / 100))
    np.testing.assert_array_equal(found["v"], [106, 192])
