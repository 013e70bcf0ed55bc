"""Every finding with the passes that could remove it, which would, and why not the others."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix import APPROXIMATE, EXACT, LOSSY, explain, graph_pass, rewrite
from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import INTERFACE, NAMED, Pass
from graphfix.authoring.editing import Editor
from graphfix.authoring.registry import get_pass
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.report.explanations import Candidate, Choice, Explanation

# TensorRT 8.2 has no importer for Mish; it has all the others that are used here.
MISH = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 18]>'
    "g (float[2,3] x) => (float[2,3] y) { t = Relu (x)  y = Mish (t) }"
)


@rewrite("Mish", removes="op:Mish", emits=("Softplus", "Tanh", "Mul"), accuracy=EXACT)
def exactly(node: NodeView, build: Builder) -> Value:
    """Write Mish out."""
    x = node.need(0)
    return build.Mul(x, build.Tanh(build.Softplus(x)))


@rewrite("Mish", removes="op:Mish", emits=("Softplus", "Tanh", "Mul", "Neg"), accuracy=EXACT)
def in_more_nodes(node: NodeView, build: Builder) -> Value:
    """Write Mish out, with a detour."""
    x = node.need(0)
    return build.Neg(build.Neg(build.Mul(x, build.Tanh(build.Softplus(x)))))


@rewrite("Mish", removes="op:Mish", emits="Sigmoid", accuracy=EXACT)
def nearly(node: NodeView, build: Builder) -> Value:
    """Do something near it, in fewer nodes."""
    build.declare(APPROXIMATE, "far off")
    return build.Sigmoid(node.need(0))


@rewrite("Mish", removes="op:Mish", emits="Relu", accuracy=LOSSY)
def cheaply(node: NodeView, build: Builder) -> Value:
    """Do something cheaper."""
    return build.Relu(node.need(0))


@rewrite("Mish", removes="op:Mish", emits="Relu", accuracy=EXACT)
def never(node: NodeView, build: Builder) -> Value:
    """Refuse."""
    raise Refuse("the moon is full")


@rewrite("Mish", removes="op:Mish", emits="Relu", accuracy=EXACT)
def broken(node: NodeView, build: Builder) -> Value:
    """Fail."""
    raise ZeroDivisionError


@rewrite("Relu", removes="op:*", emits="Max", accuracy=EXACT)
def of_another(node: NodeView, build: Builder) -> Value:
    """Replace another operator."""
    return build.Max(node.need(0), 0.0)


@rewrite("Mish", removes="op:Mish", emits="Compress", accuracy=EXACT)
def to_compress(node: NodeView, build: Builder) -> Value:
    """Emit what the target lacks."""
    return build.Compress(node.need(0), build.constant(np.array([True, True, True])), axis=1)


@rewrite("Mish", removes="op:Mish", emits="Shrink", accuracy=EXACT)
def to_shrink(node: NodeView, build: Builder) -> Value:
    """Emit what the target lacks and another pass replaces."""
    return build.Shrink(node.need(0))


@rewrite("Shrink", removes="op:Shrink", emits="Tanh", accuracy=EXACT)
def from_shrink(node: NodeView, build: Builder) -> Value:
    """Replace Shrink."""
    return build.Tanh(node.need(0))


@graph_pass(removes="op:Mish", stage=INTERFACE)
def by_consent(editor: Editor) -> None:
    """Change the interface."""


@graph_pass(removes="op:Mish", stage=NAMED)
def by_name(editor: Editor) -> None:
    """Run only when named."""


@graph_pass(removes="op:Mish")
def everywhere(editor: Editor) -> None:
    """Find nothing."""


def only(*passes: Pass, model: onnx.ModelProto = MISH, target: str = "trt8.2") -> Explanation:
    (found,) = [e for e in explain(model, target, passes=passes) if e.finding.blocks]
    return found


def test_the_chosen_one_and_why_not_the_others() -> None:
    known = only(in_more_nodes, nearly, exactly)
    assert known.removed
    assert known.others == ()
    assert known.candidates == (
        Candidate("exactly", Choice.CHOSEN, "", EXACT, 3),
        Candidate("in-more-nodes", Choice.OUTRANKED, "5 nodes, where exactly needs 3", EXACT, 5),
        Candidate(
            "nearly", Choice.OUTRANKED, "approximate, where exactly is exact", APPROXIMATE, 1
        ),
    )


def test_the_name_decides_between_equals() -> None:
    @rewrite("Mish", removes="op:Mish", emits=("Softplus", "Tanh", "Mul"), accuracy=EXACT)
    def later(node: NodeView, build: Builder) -> Value:
        """Write Mish out as well."""
        x = node.need(0)
        return build.Mul(build.Tanh(build.Softplus(x)), x)

    _, second = only(later, exactly).candidates
    assert second.reason == "no better than exactly, which comes first by name"


@pytest.mark.parametrize(
    ("declared", "choice", "reason"),
    [
        (never, Choice.REFUSED, "the moon is full"),
        (to_compress, Choice.REFUSED, "it needs Compress: "),
        (broken, Choice.FAILED, "ZeroDivisionError"),
        (cheaply, Choice.UNSUITABLE, "lossy, and needs --allow-lossy"),
        (of_another, Choice.UNSUITABLE, "it replaces Relu; this finding is at Mish"),
        (by_consent, Choice.REFUSED, "needs --allow-io-change"),
        (by_name, Choice.UNSUITABLE, "runs only when it is named: --passes by-name"),
        (everywhere, Choice.UNSUITABLE, "it found nothing here that it can change"),
    ],
)
def test_why_a_pass_does_not_remove_a_finding(declared: Pass, choice: Choice, reason: str) -> None:
    known = only(declared)
    assert not known.removed
    (candidate,) = known.candidates
    assert candidate.choice is choice
    assert reason in candidate.reason


def test_those_who_help_are_named() -> None:
    (candidate,) = only(to_shrink, from_shrink).candidates
    assert candidate.choice is Choice.CHOSEN
    assert candidate.helped_by == ("from-shrink",)


def test_what_was_not_needed_any_more() -> None:
    first, second = only(exactly, everywhere).candidates
    assert first.choice is Choice.CHOSEN
    assert second == Candidate(
        "everywhere", Choice.UNSUITABLE, "not needed: exactly was there first"
    )


def test_folding_is_named_where_it_takes_the_node_away() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]>'
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { t = Mish (w)  y = Add (x, t) }"
    )
    known = only(get_pass("fold-constants"), exactly, model=model)
    assert known.removed
    assert known.others == ("fold-constants",)
    (candidate,) = known.candidates
    assert candidate.reason == "not needed: another pass was there first"


def test_the_opset_step_is_a_candidate() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[2,3] x) => (float[2,1] y) '
        "<int64[1] axes = {1}> { y = ReduceMean (x, axes) }"
    )
    known = only(get_pass("opset"), model=model, target="trt8.6")
    assert known.removed
    assert known.candidates == (Candidate("opset", Choice.CHOSEN),)


def test_decompositions_that_would_not_finish_are_planned_only() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]>'
        "g (float[3,3] x) => (float[3,3] y, float d) { y = Mish (x)  d = Det (x) }"
    )
    found = explain(model, "trt8.2", passes=[in_more_nodes])
    mish, det = [known for known in found if known.finding.blocks]
    assert not mish.removed
    assert mish.candidates[0].choice is Choice.REFUSED
    assert mish.candidates[0].reason.startswith("it would add 4 nodes")
    assert det.candidates == ()


def test_the_model_is_not_changed() -> None:
    before = MISH.SerializeToString()
    only(exactly)
    assert MISH.SerializeToString() == before
