"""output-type-correction: an output is declared as what it is, by consent."""

import pytest
from onnx import TensorProto

import graphfix
from graphfix.report import IoChange, Verdict
from graphfix.testing import assert_untouched
from tests.passes.shape_models import text

PASS = "output-type-correction"
TYPE = "g (float[2,3] a) => (int64[2,M] y) { y = Relu (a) }"


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.20"])
def test_by_consent_the_output_is_declared_as_what_it_is(target: str) -> None:
    result = graphfix.run(text(TYPE), target, allow_io_change=True)
    assert result.exit_code == 0
    assert result.report.io_changes == (IoChange("y", "int64[2, M]", "float32[2, M]"),)
    assert result.report.findings_after == ()
    assert result.report.verification.status is Verdict.EQUAL
    declared = result.model.to_proto().graph.output[0].type.tensor_type
    assert declared.elem_type == TensorProto.FLOAT
    assert [d.dim_value or d.dim_param for d in declared.shape.dim] == [2, "M"]


def test_without_consent_nothing_changes_and_the_finding_says_what_would_help() -> None:
    result = graphfix.run(text(TYPE), "ort-1.20")
    assert result.exit_code == 1
    assert result.model.to_proto() == text(TYPE)
    found = next(f for f in result.report.findings_before if f.rule == "output-type-declared")
    assert found.removed_by == (PASS,)
    assert found.needs == ((PASS, "--allow-io-change"),)


def test_sizes_that_a_scale_gives_are_not_those_of_onnx_and_are_left() -> None:
    graph = (
        "g (float[1,1,5,6] a) => (float[1,1,9,13] y) <float[4] s = {1, 1, 1.8, 2.1666667}> "
        '{ y = Resize <mode = "linear"> (a, , s) }'
    )
    assert_untouched(PASS, text(graph))
    assert [f.rule for f in graphfix.check(text(graph), "trt8.6")] == []
