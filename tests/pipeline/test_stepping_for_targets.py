"""How far down the opset of a model goes for a target: to where least is left, and no further."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix.api import check, run
from graphfix.testing import outputs_of, parse

NEWER = {
    # (operator, opset, target): the opset that is left.
    # 9.3 says 19; the body of RMSNormalization holds ReduceMean-18, whose axes 9.3 does not read.
    ("RMSNormalization <axis = -1> (x, s)", 23, "trt9.3"): 17,
    ("RMSNormalization <axis = -1> (x, s)", 23, "trt10.1"): 22,
    # 10.15 says 24 and has no Swish, which came with 24; 11.1 has it.
    ("Swish (x)", 24, "trt10.15"): 23,
    ("Swish (x)", 24, "trt11.1"): 24,
    # An old operator that is missing is no reason to step.
    ("Relu (x)", 19, "trt9.3"): 19,
}


@pytest.mark.parametrize(
    ("case", "opset"), NEWER.items(), ids=[f"{c[0][:4]}-{c[2]}" for c in NEWER]
)
def test_a_newer_operator_is_written_out(case: tuple[str, int, str], opset: int) -> None:
    body, start, target = case
    model = parse(
        f'<ir_version: 10, opset_import: ["" : {start}]> g (float[2, 4] x, float[4] s) '
        f"=> (float[2, 4] y) {{ y = {body} }}"
    )
    result = run(model, target, verify="full")
    assert result.exit_code == 0, result.report.findings_after
    assert result.model.opset == opset


def test_an_operator_is_written_out_however_far_down_that_is() -> None:
    model = parse(
        '<ir_version: 10, opset_import: ["" : 24]> g (float[2, 2, 3] x) => (float[2, 4, 5, 2] y) '
        "<int64[4] s = {2, 3, 4, 5}> { y = AffineGrid (x, s) }"
    )
    result = run(model, "trt10.10", verify="full")
    assert result.exit_code == 0, result.report.findings_after
    assert result.model.opset == 19  # AffineGrid came with 20


def test_an_operator_with_a_body_is_written_out_however_far_down_that_is() -> None:
    model = parse(
        '<ir_version: 10, opset_import: ["" : 24]> g (float[4, 5] x) => (float[3, 7] y) '
        "<int64[2] s = {3, 7}> { y = CenterCropPad (x, s) }"
    )
    result = run(model, "trt10.10", verify="full")
    assert result.exit_code == 0, result.report.findings_after
    assert result.model.opset == 17  # CenterCropPad came with 18


def test_an_operator_gets_an_older_form_however_far_down_that_is() -> None:
    model = parse(
        '<ir_version: 10, opset_import: ["" : 26]> g (float[1, 1, 4, 4] x, float[1, 4] r, '
        "int64[1] b) => (float[1, 1, 1, 1] y) { y = RoiAlign (x, r, b) }"
    )
    result = run(model, "ort-1.31", verify="off")
    assert not [f for f in result.report.findings_after if f.blocks]
    assert result.model.opset == 21  # the form of 22 has no kernel


@pytest.mark.parametrize(("op", "opset"), [("ReduceLogSumExp", 22), ("ReduceLogSumExp", 28)])
def test_what_is_an_input_becomes_an_attribute_however_far_down_that_is(
    op: str, opset: int
) -> None:
    text = (
        f'<ir_version: 10, opset_import: ["" : {opset}]> g (float[2, 3] x) => (float[2, 1] y) '
        f"<int64[1] a = {{1}}> {{ y = {op} (x, a) }}"
    )
    assert [f.feature for f in check(parse(text), "trt10.10") if f.blocks] == [
        f"form:{op}.axes-input"
    ]
    result = run(parse(text), "trt10.10", verify="full")
    assert result.exit_code == 0, result.report.findings_after
    assert result.model.opset == 17  # the axes are an input from 18 on
    node = result.model.to_proto().graph.node[0]
    assert [list(a.ints) for a in node.attribute if a.name == "axes"] == [[1]]


def test_an_old_operator_that_is_missing_stays_where_it_is() -> None:
    model = parse(
        '<ir_version: 10, opset_import: ["" : 20]> g (float[4] x) => (int64[1, n] y) '
        "{ y = NonZero (x) }"
    )
    assert [f.feature for f in check(model, "trt8.4") if f.blocks] == ["op:NonZero"]
    result = run(model, "trt8.4", verify="off")
    assert [f.feature for f in result.report.findings_after if f.blocks] == ["op:NonZero"]
    assert result.model.opset == 20


def test_another_domain_has_no_lower_opset() -> None:
    text = '<ir_version: 8, opset_import: ["" : 18, "q" : 1]> g (float[2] x) => (float[2] y) '
    model = onnx.parser.parse_model(text + "{ y = q.Swish (x) }")
    result = run(model, "trt10.1", verify="off")
    assert [f.feature for f in result.report.findings_after if f.blocks] == ["op:q::Swish"]
    assert result.model.opset == 18


def test_a_repair_that_needs_a_form_of_a_lower_opset_gets_it() -> None:
    """CumSum becomes a sum, whose axes ncnn reads as an attribute alone, as before opset 13."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[3,4] x) => (float[3,4] y) '
        "<int64 a = {1}> { r = Relu (x) y = CumSum (r, a) }"
    )
    result = run(model, "ncnn1.0", trust_rules=True)
    assert result.exit_code == 0
    assert result.model.opset == 12
    (reduced,) = [n for n in result.model.to_proto().graph.node if n.op_type == "ReduceSum"]
    assert [attribute.name for attribute in reduced.attribute if attribute.name == "axes"]
    x = np.array([[1, -2, 3, 4], [0.5, 0, 0, 1], [-1, -1, 2, 2]], np.float32)
    (found,) = outputs_of(result.model.to_proto(), {"x": x}).values()
    np.testing.assert_allclose(found, np.cumsum(np.maximum(x, 0), 1), rtol=1e-6)
