"""What was asked for by name and not done, and what never runs, does not end in 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix import Refuse, rewrite
from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Pass
from graphfix.ir.views import NodeView, Value
from graphfix.proving.models import compare_files
from graphfix.rendering.wording import headline
from graphfix.report import Status, Verdict


def model_of(graph: str, opset: int = 17) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}')


MOD = "(float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Mod <fmod = 1> (x, z) }"
RELU = "(float[2,3] x) => (float[2,3] y) { y = Relu (x) }"
BAKED = "(float[N,3] x) => (float[1,3] y) <int64[2] s = {1, 3}> { a = Reshape (x, s) y = Relu (a) }"


@rewrite("Relu", removes="op:Relu", emits="Relu")
def never_relu(node: NodeView, build: Builder) -> Value:
    """Refuse every Relu."""
    raise Refuse("not this one")


@rewrite("Relu", removes="op:Relu", emits="Relu")
def broken_relu(node: NodeView, build: Builder) -> Value:
    """Raise at every Relu."""
    raise ValueError("a fault")


@pytest.mark.parametrize(
    ("declared", "status"), [(never_relu, Status.REFUSED), (broken_relu, Status.FAILED)]
)
@pytest.mark.parametrize("target", [None, "trt8.6"])
def test_a_named_pass_that_is_refused_or_fails_is_not_done(
    declared: Pass, status: Status, target: str | None
) -> None:
    passes: list[str | Pass] = ["mod-elimination", declared]
    result = graphfix.run(model_of(RELU), target, passes=passes)
    reported = {o.status for o in result.report.outcomes if o.pass_id != "mod-elimination"}
    if target is None:
        assert result.exit_code == 1
        assert reported == {status}
        assert headline(result.report, 1).word == "NOT DONE"
    else:  # it has no finding that it could be for
        assert result.exit_code == 0


@rewrite("Relu", removes="op:Relu", emits="Max", since=7, until=12)
def relu_of_some_opsets(node: NodeView, build: Builder) -> Value:
    """Write Max."""
    return build.Max(node.need(0), 0.0)


@pytest.mark.parametrize("opset", [6, 13])
def test_a_pass_for_other_opsets_says_so(opset: int) -> None:
    result = graphfix.run(model_of(RELU, opset), passes=[relu_of_some_opsets])
    assert result.exit_code == 1
    (outcome,) = (o for o in result.report.outcomes if o.pass_id == "relu-of-some-opsets")
    assert outcome.status is Status.NOT_NEEDED
    assert outcome.reason == f"it is for opsets 7 to 12; the model is of opset {opset}"
    assert [site.node.op for site in outcome.sites] == ["Relu"]
    done = graphfix.run(model_of(RELU, 12), passes=[relu_of_some_opsets])
    assert done.exit_code == 0


def test_a_named_pass_that_is_done_ends_in_0_though_another_had_nothing_to_do() -> None:
    result = graphfix.run(model_of(MOD), passes=["mod-elimination", "sort-nodes"], verify="off")
    statuses = {o.pass_id: o.status for o in result.report.outcomes}
    assert statuses["sort-nodes"] is Status.NOT_NEEDED
    assert result.exit_code == int(statuses["mod-elimination"] is not Status.APPLIED)


def test_named_passes_that_find_nothing_are_not_done_without_a_target() -> None:
    result = graphfix.run(model_of(RELU), passes=["mod-elimination"])
    assert result.exit_code == 1
    assert headline(result.report, 1).word == "NOT DONE"


def test_a_file_that_fails_on_the_inputs_of_the_user_is_not_equal() -> None:
    inputs = {"x": np.ones((2, 3), np.float32)}
    result = graphfix.run(model_of(BAKED), "trt8.6", inputs=inputs)
    assert result.exit_code == 1
    assert result.report.verification.status is Verdict.SKIPPED
    assert "Input shape:{2,3}, requested shape:{1,3}" in result.report.verification.reason
    assert headline(result.report, 1).word == "NOT VERIFIED"


def test_a_file_that_runs_on_the_inputs_of_the_user_has_nothing_to_do() -> None:
    inputs = {"x": np.ones((1, 3), np.float32)}
    result = graphfix.run(model_of(BAKED), "trt8.6", inputs=inputs)
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL


def test_a_repaired_file_that_fails_on_every_sample_is_not_equal() -> None:
    graph = (
        "(float[2,3] x, int64[1] i) => (float[A,B] y) "
        "{ s = Constant <value = int64[1] {7}> () t = Concat <axis = 0> (s, i) "
        "a = Reshape (x, t) y = HardSwish (a) }"
    )
    inputs = {"x": np.ones((2, 3), np.float32), "i": np.array([2], np.int64)}
    result = graphfix.run(model_of(graph), passes=["hardswish-to-hardsigmoid"], inputs=inputs)
    applied = [o for o in result.report.outcomes if o.status is Status.APPLIED]
    assert [o.pass_id for o in applied] == ["hardswish-to-hardsigmoid"]
    assert result.exit_code == 1
    assert "Input shape:{2,3}, requested shape:{7,2}" in result.report.verification.reason


def test_declared_shapes_alone_are_not_nothing() -> None:
    graph = "(float[N,3] x) => (float[N,3] y) { y = Relu (x) }"
    result = graphfix.run(model_of(graph), "trt8.6", shapes={"x": (2, 3)})
    assert result.exit_code == 0
    assert result.report.io_changes
    assert result.report.verification.reason == "no node was changed"
    said = headline(result.report, 0)
    assert said.word == "CHANGED"
    assert "can be changed so" in said.sentence


@pytest.mark.parametrize(("count", "never"), [(6, False), (5, True)])
def test_only_a_result_that_fails_too_never_runs(tmp_path: Path, count: int, never: bool) -> None:
    files = [tmp_path / "before.onnx", tmp_path / "after.onnx"]
    for path, size in zip(files, (7, count), strict=True):
        graph = f"(float[2,3] x) => (float[A] y) <int64[1] s = {{{size}}}> {{ y = Reshape (x, s) }}"
        path.write_bytes(model_of(graph).SerializeToString())
    found = compare_files(files[0], files[1])
    assert found.status is Verdict.SKIPPED
    assert found.runs_never is never
