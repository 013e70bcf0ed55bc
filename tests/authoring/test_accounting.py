"""Every argument of a node is read by its repair and by its numpy model, or changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import graphfix
from graphfix import EXACT, Refuse, rewrite
from graphfix.authoring import NodeView, Value
from graphfix.authoring.accounted_models import modelled
from graphfix.authoring.accounting import AccountedNode, accounted, check_read
from graphfix.authoring.building import Builder
from graphfix.testing import assert_refused, outputs_of, run_pass

HEAD = (
    '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> '
    "g (float[2] x, float[2] b) => (float[2] y) "
)


@rewrite("acme::Scaled", removes="op:acme::Scaled", emits="Mul Add", accuracy=EXACT)
def scaled(node: NodeView, build: Builder) -> Value:
    """Multiply by a factor; the bias is added where a flag says so."""
    x = build.Mul(node.need(0), float(node.attr("factor", 1.0)))
    if node.has("biased"):
        return build.Add(x, node.need(1)) if node.attr("biased") else x
    return x


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("Scaled <factor = 2.0> (x)", ""),
        ("Scaled (x)", ""),
        ("Scaled <biased = 1> (x, b)", ""),
        ("Scaled <biased = 0> (x, b)", "input 1 of acme::Scaled is not one that this repair reads"),
        ("Scaled (x, b)", "input 1 of acme::Scaled is not one"),
        ("Scaled <other = 2> (x)", "attribute other of acme::Scaled is not one that this repair"),
        ("Scaled <factor = 2.0, other = 0> (x)", "attribute other of acme::Scaled is not one"),
    ],
)
def test_what_is_not_read_on_the_way_that_was_taken(call: str, reason: str) -> None:
    model = HEAD + "{ y = acme." + call + " }"
    if reason:
        assert_refused(scaled, model, reason)
    else:
        assert "Mul" in run_pass(scaled, model).ops


@rewrite("acme::Waived", removes="op:acme::Waived", emits="Neg")
def waived(node: NodeView, build: Builder) -> Value:
    """Look at nothing but the first input, and say so."""
    node.waive(("note",), (1,))
    assert node.inputs[1] is not None  # that it is there says nothing of it
    return build.Neg(node.inputs[0])


def test_what_is_said_to_change_nothing() -> None:
    assert run_pass(waived, HEAD + '{ y = acme.Waived <note = "n"> (x, b) }').ops == ["Neg"]
    assert_refused(waived, HEAD + "{ y = acme.Waived <more = 1> (x, b) }", "attribute more")


@rewrite("Neg", emits="Abs")
def negated(node: NodeView, build: Builder) -> Value:
    """Read the input alone."""
    return build.Abs(node.need(0))


def test_what_onnx_does_not_have_is_not_left_out_either() -> None:
    assert run_pass(negated, HEAD + "{ y = Neg (x) }").ops == ["Abs"]
    assert_refused(negated, HEAD + "{ y = Neg <alpha = 2> (x) }", "attribute alpha of Neg")


def test_a_model_that_leaves_out_what_the_repair_leaves_out() -> None:
    def read(inputs: list[Any], attributes: dict[str, Any]) -> Any:
        return (inputs[0] * attributes.get("factor", 1),)

    x = np.ones(2, np.float32)
    (y,) = modelled(read, "Scaled", "acme", [x], {"factor": 3})
    assert y.tolist() == [3, 3]
    with pytest.raises(Refuse, match="input 1 of Scaled is not one that its numpy model reads"):
        modelled(read, "Scaled", "acme", [x, x], {})
    with pytest.raises(Refuse, match="attribute biased of Scaled is not one"):
        modelled(read, "Scaled", "acme", [x], {"biased": 0})
    with pytest.raises(Refuse, match=r"input 1 \(dim\) of all is not one"):
        modelled(read, "all", "aten", [x, np.array(0)], {"keepdim": 0})
    modelled(read, "all", "aten", [x], {"overload_name": ""})


def reduced(**attributes: Any) -> onnx.ModelProto:
    node = helper.make_node("all", ["x"], ["y"], domain="aten", **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.BOOL, [3, 2, 2, 2])
    y = helper.make_tensor_value_info("y", TensorProto.BOOL, None)
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("aten", 1)]
    graph = helper.make_graph([node], "g", [x], [y])
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_dim_and_keepdim_choose_an_overload(tmp_path: Path) -> None:
    result = graphfix.run(reduced(dim=2, keepdim=1), "ort")
    assert result.exit_code == 0

    x = np.arange(24).reshape(3, 2, 2, 2) % 5 > 0
    found = outputs_of(result.model.to_proto(), {"x": x})["y"]
    assert found.tolist() == x.all(axis=2, keepdims=True).tolist()


@pytest.mark.parametrize(
    "attributes", [{"axis": 2}, {"keepdim": 1, "unbiased": 0}, {"dim": 1, "out": 0}]
)
def test_arguments_that_no_overload_has_are_refused(attributes: dict[str, int]) -> None:
    result = graphfix.run(reduced(**attributes), "ort")
    assert result.exit_code == 1
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["all"]


def called(operator: str, overload: str, *more: Any, **attributes: Any) -> onnx.ModelProto:
    constants = [onnx.numpy_helper.from_array(a, f"k{at}") for at, a in enumerate(more)]
    names = ["x", *(constant.name for constant in constants)]
    node = helper.make_node(
        "ATen", names, ["y"], domain="org.pytorch.aten", operator=operator,
        overload_name=overload, **attributes,
    )  # fmt: skip
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("org.pytorch.aten", 1)]
    graph = helper.make_graph([node], "g", [x], [y], constants)
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


TWO = np.array(2, np.float32)
X = np.array([[1, -3, 5], [-7, 4, 0.5]], np.float32)


@pytest.mark.parametrize(
    ("declared", "model", "expected"),
    [
        # Without a rounding mode it is a division, and was one towards 0.
        ("aten-arithmetic", called("div", "Tensor_mode", TWO), X / 2),
        ("aten-arithmetic", called("div", "Tensor_mode", TWO, rounding_mode="floor"), X // 2),
        ("aten-arithmetic", called("add", "Tensor", TWO, alpha=3.0), X + 6),
        ("aten-reduction", called("sum", "dim_IntList", dim=[1], keepdim=1), X.sum(1)[:, None]),
        ("aten-reduction", called("var", "correction", dim=[1], correction=0.0), X.var(1)),
    ],
)
def test_arguments_have_their_part(
    declared: str, model: onnx.ModelProto, expected: np.ndarray[Any, Any]
) -> None:
    found = outputs_of(run_pass(declared, model).after, {"x": X})["y"]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("declared", "model", "reason"),
    [
        ("aten-arithmetic", called("div", "Tensor_mode", TWO, rounding_mode="ceil"), "'ceil'"),
        ("aten-arithmetic", called("add", "Scalar", other=2.0), "other of add must be an input"),
        ("aten-arithmetic", called("add", "Tensor", TWO, beta=3.0), "attribute beta is none of"),
        ("aten-reduction", called("sum", "dim_IntList", dim=[1], unbiased=1), "unbiased is none"),
        ("aten-activation", called("threshold", "", TWO, TWO, TWO), "takes 3 inputs; 4 are given"),
    ],
)
def test_arguments_that_have_no_part_are_refused(
    declared: str, model: onnx.ModelProto, reason: str
) -> None:
    assert_refused(declared, model, reason)


def test_an_operator_before_its_opset_has_the_defaults_of_its_form() -> None:
    head = (
        '<ir_version: 8, opset_import: ["" : 15]> g (float[2, 4] x, float[4] s) => (float[2, 4] y)'
    )
    text = head + " { y = LayerNormalization <axis = -1, stash_type = %d> (x, s) }"
    view = accounted(NodeView(graphfix.load(onnx.parser.parse_model(text % 1)).graph.nodes[0]))
    assert isinstance(view, AccountedNode)
    view.attr("axis")
    assert view.input(0) is not None
    view.waive(inputs=(0, 1))
    check_read(view)
    other = AccountedNode(graphfix.load(onnx.parser.parse_model(text % 10)).graph.nodes[0])
    other.attr("axis")
    other.waive(inputs=(0, 1))
    with pytest.raises(Refuse, match="attribute stash_type of LayerNormalization is not one"):
        check_read(other)
