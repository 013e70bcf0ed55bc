"""later-operators: operators that the imported opset does not have yet."""

import onnx
import pytest
from onnx import parser

import graphfix
from graphfix.report import Status, Verdict

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x, float[3] s) => (float[2,3] y) '
GELU = HEAD + "{ g = Gelu (x) y = Add (g, s) }"
RMS = HEAD + "{ y = RMSNormalization (x, s) }"


def model_of(text: str) -> onnx.ModelProto:
    return parser.parse_model(text)


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.31"])
@pytest.mark.parametrize("text", [GELU, RMS])
def test_the_opset_that_brings_it_is_imported_and_proved(text: str, target: str) -> None:
    before = graphfix.check(model_of(text), target)
    assert any(f.blocks for f in before)
    result = graphfix.run(model_of(text), target)
    assert result.exit_code == 0
    assert result.report.verification.status == Verdict.EQUAL
    assert "later-operators" in [
        o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED
    ]
    assert not any(f.blocks for f in result.report.findings_after)


def test_the_runtime_says_which_operator_is_too_new() -> None:
    found = next(f for f in graphfix.check(model_of(GELU), "ort-1.31") if f.rule == "no-kernel")
    assert found.feature == "opset:too-low.Gelu"
    assert found.message == "Gelu is not defined in opset 17; a newer opset adds it"
    assert found.removed_by[0] == "later-operators"


def test_what_the_runtime_has_of_its_own_is_left_alone() -> None:
    text = HEAD.replace("17", "13") + "{ y = LayerNormalization (x, s) }"
    assert graphfix.check(model_of(text), "ort-1.31") == ()
    affine = HEAD.replace("17", "8") + "{ y = Affine <alpha = 2.0, beta = 1.0> (x) }"
    assert graphfix.check(model_of(affine), "ort-1.31") == ()
    (found,) = graphfix.check(model_of(affine.replace(": 8]", ": 13]")), "ort-1.31")
    assert found.feature == "op:Affine"


def test_a_node_that_cannot_follow_is_named() -> None:
    text = HEAD.replace("17", "18").replace("2,3] x", "2,3,4] x").replace("2,3] y", "2,3,4] y")
    nodes = "{ g = GroupNormalization <num_groups = 3> (x, s, s) y = Swish (g) }"
    result = graphfix.run(model_of(text + nodes), "ort-1.31")
    assert result.exit_code == 1
    refused = {o.pass_id: o for o in result.report.outcomes if o.status is Status.REFUSED}
    assert "GroupNormalization" in {site.node.op for site in refused["later-operators"].sites}
