"""repeated-constants: of constants with one name the last one is kept."""

from onnx import helper, numpy_helper

import graphfix
from graphfix.rendering.wording import headline
from graphfix.report import Status
from graphfix.testing import run_pass
from tests.passes.shape_models import text

PASS = "repeated-constants"
TWICE = (
    "g (float[1] x) => (float[1] y) { k = Constant <value = float[1] {2}> () y = Mul (x, k) "
    "k = Constant <value = float[1] {3}> () }"
)


def test_the_last_constant_node_is_kept() -> None:
    done = run_pass(PASS, text(TWICE))
    assert done.with_status(Status.APPLIED)
    left = [n for n in done.after.graph.node if n.op_type == "Constant"]
    assert [numpy_helper.to_array(n.attribute[0].t).tolist() for n in left] == [[3.0]]
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


def test_a_constant_node_counts_and_an_initializer_of_its_name_goes() -> None:
    model = text(
        "g (float[1] x) => (float[1] y) { k = Constant <value = float[1] {3}> () y = Mul (x, k) }"
    )
    model.graph.initializer.append(helper.make_tensor("k", 1, [1], [2.0]))
    done = run_pass(PASS, model)
    assert not done.after.graph.initializer
    assert [n.op_type for n in done.after.graph.node] == ["Constant", "Mul"]


def test_a_run_says_that_the_name_was_blocking_before_it_was_mended() -> None:
    result = graphfix.run(text(TWICE), target="trt8.6")
    assert [f.rule for f in result.report.findings_before if f.blocks] == ["same-output-names"]
    assert not [f for f in result.report.findings_after if f.blocks]
    assert headline(result.report, result.exit_code).word == "FIXED"
