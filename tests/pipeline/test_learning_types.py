"""What is learnt of types where ONNX's own inference says little."""

from __future__ import annotations

from graphfix.api import run
from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import InferredType, rewrite
from graphfix.authoring.registry import all_passes
from graphfix.engines.targets import load_target
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline.attempts import first_attempt
from graphfix.pipeline.model_files import load
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.original import Original
from graphfix.pipeline.settings import Settings
from graphfix.report import EXACT
from graphfix.testing import parse


def test_a_slice_keeps_the_sizes_of_other_axes() -> None:
    model = load(
        parse(
            '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 36, N, 3] x, int64[1] s, '
            "int64[1] e) => (float[A, B, C, D] y) <int64[1] a = {0}> { t = Slice (x, s, e, a) "
            "y = Neg (t) }"
        )
    )
    infer_types(model, all_passes())
    sliced = model.graph.nodes[0].outputs[0]
    assert sliced.shape is not None
    assert sliced.shape[1] == 36
    assert sliced.shape[3] == 3
    assert not isinstance(sliced.shape[0], int)


def test_a_function_with_findings_is_inlined_where_the_target_reads_functions() -> None:
    # TensorRT 10 reads functions, and refuses what it finds inside; here dtypes are not known
    # inside because the two calls differ.
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "f" : 1]> g (float[2] x, double[2] z) => '
        "(float[2] y, double[2] w) { y = f.once (x) w = f.once (z) }\n"
        '<domain: "f", opset_import: ["" : 17]> once (a) => (b) { s = Mul (a, a) b = Div (s, a) }'
    )
    result = run(parse(text), "trt10.1", verify="off")
    assert [f for f in result.report.findings_after if f.blocks] == []
    assert [node.op for node in result.model.graph.nodes] == ["Mul", "Div", "Mul", "Div"]
    assert not result.model.functions


def test_a_pass_that_is_left_out_still_knows_the_types_of_its_operator() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[2, 3] x) => '
        "(float[2, 4] y) <float[3] b = {1, 2, 3}, float[3, 4] w = "
        "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> "
        "{ t = com.microsoft.BiasGelu (x, b) y = MatMul (t, w) }"
    )
    report = run(parse(text), "trt8.6", skip=["contrib-gelu-to-erf"], verify="off").report
    assert [f.feature for f in report.findings_before] == ["op:com.microsoft::BiasGelu"]
    assert [f.feature for f in report.findings_after] == ["op:com.microsoft::BiasGelu"]


def test_a_pass_that_raises_is_not_asked_for_types_again() -> None:
    def failing(node: NodeView) -> tuple[InferredType, ...]:
        raise ZeroDivisionError(node.op)

    @rewrite("local::Odd", removes="op:local::Odd", emits="Neg", accuracy=EXACT, infer=failing)
    def odd_to_neg(node: NodeView, build: Builder) -> Value:
        """Write Neg."""
        return build.Neg(node.need(0))

    text = (
        '<ir_version: 8, opset_import: ["" : 17, "local" : 1]> g (float[2] x) => (float[2] y) '
        "{ t = local.Odd (x) y = Exp (t) }"
    )
    settings = Settings(load_target("trt8.6"), None, None, (*all_passes(), odd_to_neg))
    model = load(parse(text))
    attempt = first_attempt(Original.of(model, ()), model, settings, ())
    assert [(o.pass_id, str(o.status)) for o in attempt.left_out] == [("odd-to-neg", "failed")]
    assert odd_to_neg not in attempt.settings.knowing


def test_an_operator_below_its_first_opset_has_the_types_that_it_had_there() -> None:
    # Einsum came with opset 12; TensorRT goes by its name. What is after it needs its type.
    text = (
        '<ir_version: 8, opset_import: ["" : 11]> g (float16[2, 3] x) => (float16[2] y) '
        '{ s = Einsum <equation = "ij->i"> (x) y = Neg (s) }'
    )
    model = load(parse(text))
    infer_types(model, all_passes())
    summed = model.graph.nodes[0].outputs[0]
    assert (summed.elem_type, summed.shape) == (10, (2,))
