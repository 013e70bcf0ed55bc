"""Branches of an If with inputs, which ONNX forbids and some files have: what they name stays."""

from __future__ import annotations

import onnx
from onnx import helper

import graphfix
from graphfix.report import Verdict


def test_what_a_branch_lists_as_an_input_keeps_its_name() -> None:
    flag = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    x, a, y, p = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xayp"
    )
    branches = [
        helper.make_graph([helper.make_node(op, ["a"], ["p"])], op, [a], [p])
        for op in ("Neg", "Relu")
    ]
    nodes = [
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1]),
    ]
    graph = helper.make_graph(nodes, "g", [flag, x], [y])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    result = graphfix.run(model, passes=["dead-code", "identity-elimination"])
    assert [n.op_type for n in result.model.to_proto().graph.node] == ["Identity", "If"]
    assert result.report.verification.status in (Verdict.EQUAL, Verdict.SKIPPED)
