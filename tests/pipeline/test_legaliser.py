"""Candidates are tried aside, legalised recursively, and the best tree is chosen."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from graphfix import APPROXIMATE, EXACT, LOSSY, rewrite
from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Pass
from graphfix.engines.targets import load_target
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline.finishing import finish
from graphfix.pipeline.model_files import load
from graphfix.pipeline.results import Result
from graphfix.pipeline.settings import Settings
from graphfix.report import Status, Verdict

# TensorRT 8.2 has no importer for Mish nor for Det; it has all the others that are used here.
MISH = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 18]>'
    "g (float[2,3] x) => (float[2,3] y) { t = Relu (x)  y = Mish (t) }"
)


@rewrite("Mish", removes="op:Mish", emits=("Softplus", "Tanh", "Mul"), accuracy=EXACT)
def mish_exactly(node: NodeView, build: Builder) -> Value:
    """Write Mish out."""
    x = node.need(0)
    return build.Mul(x, build.Tanh(build.Softplus(x)))


@rewrite("Mish", removes="op:Mish", emits=("Relu",), accuracy=LOSSY)
def mish_lossily(node: NodeView, build: Builder) -> Value:
    """Do something cheaper."""
    return build.Relu(node.need(0))


@rewrite("Mish", removes="op:Mish", emits=("Sigmoid",), accuracy=EXACT)
def mish_nearly(node: NodeView, build: Builder) -> Value:
    """Do something near it, in fewer nodes."""
    build.declare(APPROXIMATE, "far off")
    return build.Sigmoid(node.need(0))


@rewrite("Mish", removes="op:Mish", emits="Shrink", accuracy=EXACT)
def mish_to_shrink(node: NodeView, build: Builder) -> Value:
    """Emit an operator that the target lacks."""
    return build.Shrink(node.need(0))


@rewrite("Shrink", removes="op:Shrink", emits=("Softplus", "Tanh", "Mul"), accuracy=EXACT)
def shrink_to_mish_form(node: NodeView, build: Builder) -> Value:
    """Replace what the target lacks; the numbers are those of Mish, for the test."""
    x = node.need(0)
    return build.Mul(x, build.Tanh(build.Softplus(x)))


@rewrite("Mish", removes="op:Mish", emits=("Softsign",), accuracy=EXACT)
def mish_wrongly(node: NodeView, build: Builder) -> Value:
    """Claim to be exact, and be wrong."""
    return build.Softsign(node.need(0))


def run(*passes: Pass, lossy: bool = False) -> Result:
    settings = Settings(
        target=load_target("trt8.2"),
        opset=None,
        named=None,
        available=passes,
        allow_lossy=lossy,
    )
    return finish(load(MISH), settings, ())


def ops(result: Result) -> list[str]:
    return [node.op_type for node in result.model.to_proto().graph.node]


def statuses(result: Result) -> dict[str, Status]:
    return {outcome.pass_id: outcome.status for outcome in result.report.outcomes}


def test_the_exact_tree_wins_over_the_shorter_approximate_one() -> None:
    result = run(mish_nearly, mish_exactly)
    assert ops(result) == ["Relu", "Softplus", "Tanh", "Mul"]
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL


def test_what_a_candidate_emits_is_legalised_in_turn() -> None:
    result = run(mish_to_shrink, shrink_to_mish_form)
    assert ops(result) == ["Relu", "Softplus", "Tanh", "Mul"]
    assert statuses(result) == {
        "mish-to-shrink": Status.APPLIED,
        "shrink-to-mish-form": Status.APPLIED,
    }


def test_a_tree_that_stays_illegal_is_dropped_whole() -> None:
    result = run(mish_to_shrink)
    assert ops(result) == ["Relu", "Mish"]
    assert result.exit_code == 1
    (outcome,) = result.report.outcomes
    assert outcome.status is Status.REFUSED
    assert "it needs Shrink" in outcome.reason


def test_lossy_needs_consent() -> None:
    refused = run(mish_lossily)
    assert ops(refused) == ["Relu", "Mish"]
    assert refused.exit_code == 1
    taken = run(mish_lossily, lossy=True)
    assert ops(taken) == ["Relu", "Relu"]
    assert taken.report.verification.status is Verdict.LOSSY
    assert taken.exit_code == 0


def test_a_wrong_rewrite_is_rolled_back_and_named() -> None:
    result = run(mish_wrongly)
    assert ops(result) == ["Relu", "Mish"]
    assert result.exit_code == 1
    assert statuses(result) == {"mish-wrongly": Status.FAILED}


def test_the_input_model_is_not_changed() -> None:
    before = MISH.SerializeToString()
    run(mish_exactly)
    assert MISH.SerializeToString() == before


@pytest.mark.parametrize("partial", [False, True])
def test_what_cannot_finish_and_doubles_the_graph_is_only_planned(partial: bool) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]>'
        "g (float[3,3] x) => (float[3,3] y, float d) { y = Mish (x)  d = Det (x) }"
    )
    settings = Settings(
        target=load_target("trt8.2"),
        opset=None,
        named=None,
        available=(mish_long,),
        partial=partial,
    )
    result = finish(load(model), settings, ())
    assert result.exit_code == 1
    assert statuses(result) == {"mish-long": Status.APPLIED if partial else Status.REFUSED}
    assert ("Mish" in ops(result)) is not partial


@rewrite("Mish", removes="op:Mish", emits=("Softplus", "Tanh", "Mul", "Neg"), accuracy=EXACT)
def mish_long(node: NodeView, build: Builder) -> Value:
    """Write Mish out at length."""
    x = node.need(0)
    return build.Neg(build.Neg(build.Mul(x, build.Tanh(build.Softplus(x)))))


def test_what_is_cut_off_to_integers_is_not_rounded_in_other_steps() -> None:
    """A mean of 4 that a MatMul gives as 3.9999998 would be cut off to 3."""
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 18]>
        g (int8[2,1,4] x) => (int8[2,1,2] y) {
            s = Constant <value = float[3] {1, 1, 0.6}> ()
            y = Resize <mode = "linear"> (x, , s)
        }""")
    result = graphfix.run(model, target="trt7.0")
    assert result.exit_code == 1
    (refused,) = [o for o in result.report.outcomes if o.pass_id == "integer-resize-through-float"]
    assert refused.status is Status.REFUSED
    assert "cuts off what resize-linear-to-matmul computes with another rounding" in refused.reason
