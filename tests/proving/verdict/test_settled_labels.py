"""Labels of forests that are the same whatever is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import graphfix
from graphfix.proving.verdict.settled_labels import has_settled_label


def tree(weights: list[float], **changes: Any) -> onnx.NodeProto:
    """Return a tree of two leaves that vote for three classes."""
    lists: dict[str, Any] = {
        "classlabels_int64s": [1, 2, 3],
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "class_treeids": [0] * 6,
        "class_nodeids": [1, 1, 1, 2, 2, 2],
        "class_ids": [0, 1, 2, 0, 1, 2],
        "class_weights": weights,
        **changes,
    }
    return helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", **lists
    )


@pytest.mark.parametrize(
    ("weights", "settled"),
    [
        ([0.1, 0.6, 0.3, 0.2, 0.5, 0.3], True),
        ([0.1, 0.6, 0.3, 0.2, 0.3, 0.5], False),
        ([0.1, 0.6, 0.3, 0.2, 0.4, 0.4], False),
    ],
)
def test_one_class_wins_in_every_leaf(weights: list[float], *, settled: bool) -> None:
    assert has_settled_label(tree(weights)) is settled


def test_what_scores_begin_with_counts() -> None:
    weights = [0.1, 0.6, 0.3, 0.2, 0.3, 0.5]
    assert has_settled_label(tree(weights, base_values=[0.0, 0.5, 0.0]))
    assert not has_settled_label(tree([0.1, 0.6, 0.3, 0.2, 0.5, 0.3], base_values=[0.0, 0.0, 0.25]))


def test_two_classes_and_lists_that_do_not_fit_are_not_judged() -> None:
    two = tree([1.0, 1.0], class_treeids=[0, 0], class_nodeids=[1, 2], class_ids=[1, 1])
    del two.attribute[0]
    two.attribute.append(helper.make_attribute("classlabels_int64s", [1, 2]))
    assert not has_settled_label(two)
    assert not has_settled_label(tree([0.1, 0.6, 0.3]))
    assert not has_settled_label(helper.make_node("Identity", ["x"], ["label"]))


@pytest.mark.parametrize(
    ("weights", "status"),
    [([0.1, 0.6, 0.3, 0.2, 0.5, 0.3], "equal"), ([0.1, 0.6, 0.3, 0.2, 0.3, 0.5], "equal")],
)
def test_a_model_with_such_a_label_is_compared(weights: list[float], status: str) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1])
    label = helper.make_tensor_value_info("label", TensorProto.INT64, ["N"])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 3])
    graph = helper.make_graph([tree(weights)], "g", [x], [label, scores])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    result = graphfix.run(model, "trt8.6")
    assert result.report.verification.status.value == status
    assert result.exit_code == 0
    assert np.array_equal([o.op for o in result.model.graph.nodes if o.domain], [])
