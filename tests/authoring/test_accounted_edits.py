"""Graph passes, patterns and steps of the opset leave out no argument of what they replace."""

from __future__ import annotations

from functools import partial
from typing import Any

import onnx
import pytest

from graphfix import EXACT, rewrite
from graphfix.analysis.inference import infer_model
from graphfix.authoring import (
    Builder,
    Editor,
    Find,
    Match,
    NodeView,
    Sought,
    Value,
    accounted,
    graph_pass,
)
from graphfix.authoring.workspace import Workspace
from graphfix.ir.model import Model
from graphfix.opset.stepping import StepBlocked, move_to
from graphfix.testing import assert_refused, assert_unmatched, parse, run_pass

HEAD = (
    '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> '
    "g (float[2] x, float[2] b) => (float[2] y) "
)


def _by_two(node: NodeView, build: Builder) -> Value:
    return build.Mul(node.need(0), float(node.attr("factor", 1.0)))


@graph_pass(removes="op:acme::Scaled", emits="Mul")
def scaling(editor: Editor) -> None:
    """Replace what the editor shows."""
    for graph in editor.graphs():
        for node in editor.nodes(graph, "Scaled"):
            editor.replace(node, partial(_by_two, node))


@graph_pass(removes="op:acme::Scaled", emits="Mul")
def scaling_outputs(editor: Editor) -> None:
    """Replace what makes an output, looked at through a view that notes what is read."""
    for output in list(editor.model.graph.outputs):
        maker = Value(output).producer
        if maker is not None and maker.op == "Scaled":
            node = accounted(maker)
            if editor.can_replace(node, partial(_by_two, node)):
                editor.replace(node, partial(_by_two, node))


@pytest.mark.parametrize("declared", [scaling, scaling_outputs])
@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("Scaled <factor = 2.0> (x)", ""),
        ("Scaled (x)", ""),
        ("Scaled <other = 2> (x)", "attribute other of acme::Scaled is not one that this repair"),
        ("Scaled <factor = 2.0> (x, b)", "input 1 of acme::Scaled is not one that this repair"),
        # Of the two that are one tensor one is read.
        ("Scaled <factor = 2.0> (x, x)", "input 1 of acme::Scaled is not one that this repair"),
    ],
)
def test_a_graph_pass_reads_what_it_replaces(declared: Any, call: str, reason: str) -> None:
    model = HEAD + "{ y = acme." + call + " }"
    if reason:
        assert_refused(declared, model, reason)
    else:
        assert run_pass(declared, model).ops == ["Mul"]


@graph_pass(removes="op:acme::Scaled", emits="Mul")
def scaling_unseen(editor: Editor) -> None:
    """Replace nodes with a view that notes nothing."""
    for node in editor.model.graph.nodes:
        if node.op == "Scaled":
            view = NodeView(node)
            editor.replace(view, partial(_by_two, view))


def test_a_view_that_notes_nothing_counts_as_not_read() -> None:
    assert run_pass(scaling_unseen, HEAD + "{ y = acme.Scaled (x) }").ops == ["Mul"]
    said = "attribute factor of acme::Scaled is not one that this repair reads"
    assert_refused(scaling_unseen, HEAD + "{ y = acme.Scaled <factor = 2.0> (x) }", said)


def _again(node: NodeView, build: Builder) -> Value:
    """Write the node again, its first operand negated, as it is otherwise."""
    kept = {name: node.node.attrs[name] for name in node.attributes}
    kept = {name: 5 if name == "changed" else value for name, value in kept.items()}
    operands = [build.Neg(node.need(0)), *(Value(t) for t in node.node.inputs[1:])]
    (value,) = build.multi(node.op, *operands, outputs=1, domain=node.domain, **kept)
    return value


@graph_pass(emits="Neg acme::Scaled")
def negating(editor: Editor) -> None:
    """Keep all arguments but one."""
    node = Value(editor.model.graph.outputs[0]).producer
    if node is not None and not any(v is not None and v.producer for v in node.inputs):
        editor.replace(node, partial(_again, node))


def test_what_is_kept_as_it_is_need_not_be_read() -> None:
    kept = '{ y = acme.Scaled <factor = 2.0, note = "n", on = [1, 2]> (x, b) }'
    assert run_pass(negating, HEAD + kept).ops == ["Neg", "Scaled"]
    other = "{ y = acme.Scaled <factor = 2.0, changed = 1> (x, b) }"
    assert_refused(negating, HEAD + other, "attribute changed of acme::Scaled")


@rewrite.pattern
def _twice(find: Find, x: Sought, factor: Sought) -> Sought:
    scaled = find.node("acme::Scaled", x, factor=factor)
    return scaled + scaled


@rewrite.pattern
def _twice_called(find: Find, x: Sought, factor: Sought) -> Sought:
    scaled = find.node("acme::Scaled", x, factor=factor, label="scaled", others=True)
    return scaled + scaled


@rewrite(_twice, removes="op:acme::Scaled", emits="Mul", accuracy=EXACT)
def twice(match: Match, build: Builder) -> Value:
    """Multiply once."""
    return build.Mul(match["x"], 2.0 * float(match.attribute("factor", 1.0)))


@rewrite(_twice_called, removes="op:acme::Scaled", emits="Mul", accuracy=EXACT)
def twice_called(match: Match, build: Builder) -> Value:
    """Multiply once, whatever else the node has."""
    return build.Mul(match["x"], 2.0 * float(match.called("scaled").attr("factor", 1.0)))


@pytest.mark.parametrize("declared", [twice, twice_called])
@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("Scaled <factor = 2.0> (x)", ""),
        ("Scaled <factor = 2.0, other = 1> (x)", "other"),
        ("Scaled <factor = 2.0> (x, b)", "must have no input 1"),
    ],
)
def test_a_pattern_stands_for_the_arguments_that_it_names(
    declared: Any, call: str, reason: str
) -> None:
    model = HEAD + "{ s = acme." + call + " y = Add (s, s) }"
    if reason:
        assert_unmatched(declared, model, reason)
    else:
        assert run_pass(declared, model).ops == ["Mul"]


def test_a_step_of_the_opset_drops_no_attribute_that_onnx_does_not_have() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, 3] x) => (float[2, 3] y) { y = Pad <mode = "constant"%s> (x, p, , a) }"""
    model = parse(text % "")
    extra = parse(text % ", other = 1")
    for proto in (model, extra):
        proto.graph.initializer.extend(
            [
                onnx.helper.make_tensor("p", onnx.TensorProto.INT64, [2], [0, 0]),
                onnx.helper.make_tensor("a", onnx.TensorProto.INT64, [1], [1]),
            ]
        )
    assert _opset_after(model) == 17
    with pytest.raises(StepBlocked) as caught:
        _opset_after(extra)
    assert ["no 'other'" in one.reason for one in caught.value.blockers] == [True]


def _opset_after(model: onnx.ModelProto) -> int:
    held = Model(model)
    infer_model(held)
    move_to(held, Workspace(held), 17)
    return held.opset
