"""Passes that emit what ONNX objects to: each site is refused whole, named, and the rest stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import onnx
import pytest

from graphfix import EXACT, graph_pass, rewrite, run
from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Pass
from graphfix.authoring.editing import Editor
from graphfix.ir.graph import Variable
from graphfix.ir.views import NodeView, Value
from graphfix.opset import adapting, planning
from graphfix.pipeline.validation import Validity, validity_of
from graphfix.report import Status

MODEL = onnx.parser.parse_model(
    """
    <ir_version: 8, opset_import: ["" : 13]>
    g (float[2, 3] x) => (float[2, 3] y, float[2, 3] z) {
      [good] a = Neg (x)
      [bad] b = Neg (x)
      y = Abs (a)
      z = Abs (b)
    }
    """
)


def _dtype(build: Builder, x: Value) -> Value:
    return build.Cast(x, to=onnx.TensorProto.DOUBLE)


def _shape(build: Builder, x: Value) -> Value:
    return build.Concat(x, x, axis=0)


def _rank(build: Builder, x: Value) -> Value:
    return build.Unsqueeze(x, axes=[0])


def _attribute_type(build: Builder, x: Value) -> Value:
    return build.Softmax(x, axis="last")


def _attribute_range(build: Builder, x: Value) -> Value:
    return build.Softmax(x, axis=7)


def _inputs(build: Builder, x: Value) -> Value:
    return build.Add(x)


def _operands(build: Builder, x: Value) -> Value:
    return build.Add(x, np.ones((2, 3), np.int64))


def _sizes(build: Builder, x: Value) -> Value:
    return build.Add(x, np.ones((2, 5), np.float32))


def _in_a_body(build: Builder, x: Value) -> Value:
    def wrong(inner: Builder) -> list[Value]:
        return [inner.Softmax(x, axis=7)]

    def right(inner: Builder) -> list[Value]:
        return [inner.Neg(x)]

    then, other = build.body([], wrong), build.body([], right)
    return build.If(np.array(True), then_branch=then, else_branch=other)


UNSOUND: dict[str, tuple[Callable[[Builder, Value], Value], str]] = {
    "another dtype": (_dtype, "would change from float32 to float64"),
    "another size": (_shape, "would change its shape from [2, 3] to [4, 3]"),
    "another rank": (_rank, "would change its shape from [2, 3] to [1, 2, 3]"),
    "attribute of a wrong type": (_attribute_type, "emitted Softmax, which is not valid: Mism"),
    "attribute out of range": (_attribute_range, "emitted Softmax, which is not valid: [Shape"),
    "too few inputs": (
        _inputs,
        "emitted Add, which is not valid: Node(bad/Add) with schema(::Add:13)",
    ),
    "two dtypes": (_operands, "emitted Add, which is not valid: "),
    "sizes that do not fit": (_sizes, "emitted Add, which is not valid: [ShapeInferenceError]"),
    "in a body": (_in_a_body, "emitted Softmax, which is not valid: [ShapeInferenceError]"),
}
EMITS = ("Neg", "Mul", "Cast", "Concat", "Unsqueeze", "Softmax", "Add", "If")


def _as_rewrite(make: Callable[[Builder, Value], Value]) -> Pass:
    @rewrite("Neg", emits=EMITS, accuracy=EXACT)
    def unsound(node: NodeView, build: Builder) -> Value:
        x = node.inputs[0]
        assert x is not None
        return build.Mul(x, -1.0) if node.name == "good" else make(build, x)

    return unsound


def _as_graph_pass(make: Callable[[Builder, Value], Value]) -> Pass:
    def replace_one(editor: Editor, node: NodeView) -> None:
        x = node.inputs[0]
        assert x is not None

        def built(build: Builder) -> Value:
            return build.Mul(x, -1.0) if node.name == "good" else make(build, x)

        editor.replace(node, built)

    @graph_pass(emits=EMITS, accuracy=EXACT)
    def unsound(editor: Editor) -> None:
        for graph in editor.graphs():
            for node in editor.nodes(graph):
                if node.op == "Neg":
                    replace_one(editor, node)

    return unsound


@pytest.mark.parametrize("kind", [_as_rewrite, _as_graph_pass])
@pytest.mark.parametrize("case", UNSOUND)
def test_an_unsound_site_is_left_as_it_was(
    case: str, kind: Callable[[Callable[[Builder, Value], Value]], Pass]
) -> None:
    make, reported = UNSOUND[case]
    result = run(MODEL, passes=[kind(make)], verify="off")
    applied, failed = result.report.outcomes
    assert (applied.status, failed.status) == (Status.APPLIED, Status.FAILED)
    assert [site.node.name for site in applied.sites] == ["good"]
    assert [site.node.name for site in failed.sites] == ["bad"]
    assert reported in failed.reason
    kept = {node.output[0]: node for node in result.model.to_proto().graph.node}
    assert [kept[name].op_type for name in ("a", "b", "y", "z")] == ["Mul", "Neg", "Abs", "Abs"]
    assert kept["b"] == MODEL.graph.node[1]
    assert len(result.model.to_proto().graph.initializer) == 1
    assert validity_of(result.model) == Validity("", "")


@pytest.mark.parametrize(
    ("elem_type", "shape"), [(onnx.TensorProto.DOUBLE, (2, 3)), (1, (3, 2)), (1, None), (0, (2, 3))]
)
def test_a_type_that_changes_outside_a_site_is_a_fault(
    elem_type: int, shape: tuple[int, ...] | None
) -> None:
    @graph_pass(accuracy=EXACT)
    def other_type(editor: Editor) -> None:
        tensor = editor.model.graph.nodes[0].outputs[0]
        assert isinstance(tensor, Variable)
        tensor.elem_type, tensor.shape = elem_type, shape

    result = run(MODEL, passes=[other_type], verify="off")
    failed = [o for o in result.report.outcomes if o.status is Status.FAILED]
    assert [o.pass_id for o in failed] == ["other-type"]
    assert "changed Neg 'good' outside a recorded site" in failed[0].reason
    assert result.model.to_proto() == MODEL


def test_a_type_that_is_better_known_is_none() -> None:
    text = '<ir_version: 8, opset_import: ["": 13, "c": 1]> g (float[2] x) => (float[2] y)'
    model = onnx.parser.parse_model(text + "{ a = c.Own (x)  y = Neg (a) }")

    @graph_pass(accuracy=EXACT)
    def knows(editor: Editor) -> None:
        tensor = editor.model.graph.nodes[0].outputs[0]
        assert isinstance(tensor, Variable)
        tensor.elem_type, tensor.shape = 1, (2,)

    result = run(model, passes=[knows], verify="off")
    assert not [o for o in result.report.outcomes if o.status is Status.FAILED]


def test_what_the_model_itself_has_wrong_is_not_the_fault_of_a_pass() -> None:
    """The replaced node says of its inputs what the new one says, so nothing got worse."""
    text = '<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[2] y)'
    model = onnx.parser.parse_model(
        text + "<float[3] b> { a = Neg (x)  b = Abs (x)  y = Sub (a, b) }"
    )

    @rewrite("Sub", emits=("Add", "Neg"), accuracy=EXACT)
    def sub_to_add(node: NodeView, build: Builder) -> Value:
        a, b = node.inputs
        assert a is not None
        assert b is not None
        return build.Add(a, build.Neg(b))

    result = run(model, passes=[sub_to_add], verify="off")
    assert [o.status for o in result.report.outcomes] == [Status.APPLIED]


def test_an_unsound_step_of_the_opset_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '<ir_version: 7, opset_import: ["" : 13]> g (float[2, 3] x) => (float[2, 1] y)'
    model = onnx.parser.parse_model(
        text + "<int64[1] axes = {1}> { y = ReduceSum <keepdims = 1> (x, axes) }"
    )
    known = dict(adapting.adapters())

    def wrong(node: NodeView, build: Builder) -> object:
        return build.ReduceSum(node.inputs[0], axes=[5], keepdims=1)

    known["ReduceSum", 13, 12] = replace(known["ReduceSum", 13, 12], function=cast("Any", wrong))
    monkeypatch.setattr(planning, "adapters", lambda: known)
    result = run(model, opset=12, verify="off")
    assert (result.exit_code, result.model.opset) == (1, 13)
    assert result.model.to_proto() == model
    reasons = [o.reason for o in result.report.outcomes if o.sites and o.sites[0].node.op]
    assert len(reasons) == 1
    assert "a fault of the step: the step emitted ReduceSum, which is not valid" in reasons[0]
