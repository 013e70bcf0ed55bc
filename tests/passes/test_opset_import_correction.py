"""opset-import-correction: the number follows the forms of the nodes."""

import numpy as np
import onnx
import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.report import Status, Verdict
from graphfix.testing import outputs_of, run_pass

PASS = "opset-import-correction"
X = np.array([[1, -2, 3]], np.float32)


def model_of(graph: str, opset: int) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}')


AS_ATTRIBUTE = "(float[1,3] x) => (float[3] y) { a = Relu (x) y = Squeeze <axes = [0]> (a) }"
AS_INPUT = (
    "(float[1,3] x) => (float[3] y) <int64[1] axes = {0}> { a = Relu (x) y = Squeeze (a, axes) }"
)


@pytest.mark.parametrize(("graph", "opset", "wanted"), [(AS_ATTRIBUTE, 13, 12), (AS_INPUT, 11, 13)])
def test_the_nearest_opset_that_has_the_form(graph: str, opset: int, wanted: int) -> None:
    done = run_pass(PASS, model_of(graph, opset))
    assert done.with_status(Status.APPLIED)
    assert done.after.opset_import[0].version == wanted
    onnx.checker.check_model(done.after)  # pyright: ignore[reportUnknownMemberType]
    np.testing.assert_array_equal(outputs_of(done.after, {"x": X})["y"], [1, 0, 3])


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.20"])
@pytest.mark.parametrize(("graph", "opset"), [(AS_ATTRIBUTE, 13), (AS_INPUT, 11)])
def test_a_run_mends_it_and_proves_what_comes_after(graph: str, opset: int, target: str) -> None:
    result = graphfix.run(model_of(graph, opset), target)
    assert result.exit_code == 0
    assert next(f.rule for f in result.report.findings_before if f.blocks) in (
        "unknown-attribute",
        "input-count",
    )
    assert not [f for f in result.report.findings_after if f.blocks]
    assert result.report.verification.status is Verdict.EQUAL


def test_what_is_no_longer_there_was_written_for_an_older_opset() -> None:
    graph = (
        "(float[1,1,2,3] x) => (float[1,1,4,6] y) <float[4] s = {1, 1, 2, 2}> "
        "{ y = Upsample (x, s) }"
    )
    assert run_pass(PASS, model_of(graph, 10)).after.opset_import[0].version == 9


def with_function(nodes: str, opset: int = 11) -> ModelProto:
    return parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}, "f" : 1]> '
        "g (float[1,3] x) => (float[3] y) "
        "<int64[1] axes = {0}, float16[1,3] h = {15360, 16384, 16896}> "  # 1, 2 and 3
        "{ a = f.F (x, h) y = Squeeze (a, axes) } "
        f'<domain: "f", opset_import: ["" : {opset}]> F (p, h) => (q) {{ {nodes} }}'
    )


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ("q = Relu (p)", 13),
        ("q = Softmax (p)", 11),  # along one axis from 13 on
    ],
)
def test_functions_go_along_where_they_mean_the_same(nodes: str, wanted: int) -> None:
    after = run_pass(PASS, with_function(nodes)).after
    assert [entry.version for entry in after.opset_import if not entry.domain] == [13]
    (function,) = after.functions
    assert [entry.version for entry in function.opset_import] == [wanted]


def test_functions_of_another_opset_stay() -> None:
    model = with_function("q = Relu (p)")
    model.functions[0].opset_import[0].version = 12
    (function,) = run_pass(PASS, model).after.functions
    assert function.opset_import[0].version == 12


def test_mixed_types_in_a_function_are_read_once_the_opset_is_right() -> None:
    """The function can be inlined then, and is read where it is called."""
    model = with_function("e = Exp (p) q = Mul (e, h)")
    result = graphfix.run(model, "ort", allow_mended=True)
    assert result.exit_code == 0, result.report.findings_after
    assert {outcome.pass_id for outcome in result.report.outcomes} >= {PASS, "mixed-types-read"}
    assert result.report.verification.status is Verdict.EQUAL
    found = outputs_of(result.model.to_proto(), {"x": X})["y"]
    np.testing.assert_allclose(found, np.exp(X[0]) * [1, 2, 3], rtol=1e-6)
