"""A result that the checker or strict inference refuses is rolled back to what they take."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest

import graphfix
from graphfix import EXACT, rewrite
from graphfix.authoring.building import Builder
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline import attempts
from graphfix.pipeline.validation import Validity, new_complaints, validity_of
from graphfix.report import Status
from graphfix.validity.complaints import Complaint

MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 13]> g (float[2,3] x) => (float[2,3] y) '
    "{ a = Relu (x) b = Neg (a) c = Abs (b) y = Sqrt (c) }"
)
SHAPED = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 13]> g (float[N,3] x) => (float[2,3] y) '
    "<int64[2] s = {2, 3}> { a = Reshape (x, s) b = Add (a, x) y = Mod <fmod = 1> (b, x) }"
)


@rewrite("Relu", emits="Max", accuracy=EXACT)
def harmless(node: NodeView, build: Builder) -> Value:
    return build.Max(node.need(0), 0.0)


@rewrite("Neg", emits="Mul", accuracy=EXACT)
def first_of_two(node: NodeView, build: Builder) -> Value:
    return build.Mul(node.need(0), -1.0)


@rewrite("Abs", emits="Mul Sign", accuracy=EXACT)
def second_of_two(node: NodeView, build: Builder) -> Value:
    return build.Mul(node.need(0), build.Sign(node.need(0)))


def complaining(says: Callable[[Model], bool]) -> Callable[..., Validity]:
    """Return a checker that takes what it does not say something of."""

    def checked(model: Model, misdeclared: object = None) -> Validity:
        return Validity("", "differ in rank" if says(model) else "")

    return checked


def operators(model: Model) -> list[str]:
    return [node.op for node in model.nodes()]


PASSES = [harmless, first_of_two, second_of_two]


@pytest.mark.parametrize(
    ("refused", "left", "failed"),
    [
        ("Max", ["Relu", "Mul", "Sign", "Mul", "Sqrt"], {"harmless"}),
        ("Mul", ["Max", "Neg", "Abs", "Sqrt"], {"first-of-two", "second-of-two"}),
        ("", ["Relu", "Neg", "Abs", "Sqrt"], {"harmless", "first-of-two", "second-of-two"}),
    ],
)
def test_as_few_of_the_latest_passes_as_cure_it_are_rolled_back(
    monkeypatch: pytest.MonkeyPatch, refused: str, left: list[str], failed: set[str]
) -> None:
    """One pass, the two latest, or all: there is always a result, and never an exception."""
    given = operators(graphfix.load(MODEL))

    def says(model: Model) -> bool:
        return refused in operators(model) if refused else operators(model) != given

    monkeypatch.setattr(attempts, "validity_of", complaining(says))
    result = graphfix.run(MODEL, passes=PASSES)
    assert operators(result.model) == left
    assert result.exit_code == 1
    found = {o.pass_id: o.reason for o in result.report.outcomes if o.status is Status.FAILED}
    assert set(found) == failed
    assert all("differ in rank" in reason for reason in found.values())
    applied = {o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED}
    assert applied == {declared.id for declared in PASSES} - failed


def test_what_is_said_of_the_original_at_the_sizes_that_were_given_is_no_fault() -> None:
    result = graphfix.run(SHAPED, "trt8.2", shapes={"x": (4, 3)})
    assert result.exit_code == 1
    rules = {finding.rule for finding in result.report.findings_after}
    assert "shape-contradiction" in rules
    fitting = graphfix.run(SHAPED, "trt8.2", shapes={"x": (2, 3)})
    assert fitting.exit_code == 0
    assert fitting.model.graph.inputs[0].shape == (2, 3)


@pytest.mark.parametrize(
    ("was", "now", "news"),
    [
        (
            "(op_type:If, node name: a): differ in rank: (3) vs (0)",
            "differ in rank: (2) vs (1)",
            "",
        ),
        ("differ in rank: (3) vs (0)", "Node (q) has input size 3 not in range [1, 2]", "size 3"),
        ("", "differ in rank", "differ in rank"),
        ("differ in rank", "", ""),
    ],
)
def test_a_complaint_is_known_by_what_it_says(was: str, now: str, news: str) -> None:
    found = new_complaints(Validity("", was), Validity("", now))
    assert news in found
    assert bool(found) is bool(news)


def test_a_complaint_that_was_after_another_one_is_no_new_one() -> None:
    after = Complaint("shape-contradiction", "it cannot be", text="[ShapeInferenceError] too long")
    before = Validity("", "differ in rank", (after,))
    assert new_complaints(before, Validity("", "(op_type:Add): too long")) == ""


def test_an_operator_that_the_file_had_is_no_news_once_the_checker_gets_to_it() -> None:
    """The checker stops at the output without a type, which a pass declares."""
    text = """<ir_version: 8, opset_import: ["": 11]> g (float[2,3] x, float[3] s, float[3] b)
    => (float[2,3] y) { h = Relu (x) y = LayerNormalization (h, s, b) }"""
    model = onnx.parser.parse_model(text)
    whole = validity_of(Model(model))
    assert "No Op registered for LayerNormalization" in whole.checker
    model.graph.output[0].ClearField("type")
    untyped = validity_of(Model(model))
    assert "No Op registered" not in untyped.checker
    assert new_complaints(untyped, whole) == ""
    other = onnx.parser.parse_model(text.replace("Relu (x)", "Gelu (x)"))
    assert "Gelu" in new_complaints(untyped, validity_of(Model(other)))


def test_a_model_that_the_checker_refuses_is_no_fault_of_ours() -> None:
    """No one has promised anything for what is no ONNX model: what could be done is refused."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["x" : 17]> g (float[5] x, int64[5] i, float[5] u) '
        "=> (float[5] y) { y = ScatterElements (x, i, u) }"
    )
    model.graph.node[0].attribute.append(
        onnx.helper.make_attribute("reduction", onnx.GraphProto())  # it has to have a name
    )
    result = graphfix.run(model, opset=21)
    assert result.exit_code == 1
    assert result.model.to_proto() == model
    assert {outcome.pass_id: str(outcome.status) for outcome in result.report.outcomes} == {
        "missing-opset-import": "refused",
        "opset": "failed",
    }
