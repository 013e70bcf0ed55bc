"""Rows for the models of ai.onnx.ml: what their attributes say of their features."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphfix.proving.inputs.maker import FeedMaker

TREE: dict[str, Any] = {
    "classlabels_int64s": [0, 1],
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [1, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_values": [40_000.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "class_treeids": [0, 0],
    "class_nodeids": [1, 2],
    "class_ids": [0, 1],
    "class_weights": [1.0, 1.0],
}


def model_of(nodes: list[onnx.NodeProto], **columns: int) -> onnx.ModelProto:
    """Return a model with inputs of 50 rows of so many columns."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [50, count])
        for name, count in columns.items()
    ]
    label = helper.make_tensor_value_info("label", TensorProto.INT64, [50])
    graph = helper.make_graph(nodes, "g", inputs, [label])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def node(op: str, read: str, given: str, **attributes: Any) -> onnx.NodeProto:
    outputs = [given, "p"] if "Classifier" in op else [given]
    return helper.make_node(op, [read], outputs, domain="ai.onnx.ml", **attributes)


def drawn(model: onnx.ModelProto, sample: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    return {name: np.asarray(value) for name, value in FeedMaker(model).draw(sample).items()}


def test_rows_are_on_both_sides_of_where_a_tree_branches() -> None:
    x = drawn(model_of([node("TreeEnsembleClassifier", "x", "label", **TREE)], x=2))["x"]
    above = int((x[:, 1] > 40_000).sum())
    assert 10 < above < 40
    assert np.abs(x[:, 0]).max() < 10


def test_one_of_five_samples_is_drawn_as_for_any_other_model() -> None:
    model = model_of([node("TreeEnsembleClassifier", "x", "label", **TREE)], x=2)
    assert np.abs(drawn(model, 1)["x"]).max() < 10


def test_a_scaler_is_undone() -> None:
    nodes = [
        node("Scaler", "x", "y", offset=[0.0, 1000.0], scale=[1.0, 0.01]),
        node("TreeEnsembleClassifier", "y", "label", **{**TREE, "nodes_values": [3.0, 0.0, 0.0]}),
    ]
    x = drawn(model_of(nodes, x=2))["x"]
    assert 1200 < x[:, 1].mean() < 1400
    assert 10 < int(((x[:, 1] - 1000) * 0.01 > 3).sum()) < 40


def test_columns_that_are_inputs_of_their_own_are_parts_of_one_table() -> None:
    nodes = [
        helper.make_node("Concat", ["a", "b"], ["x"], axis=1),
        node("TreeEnsembleClassifier", "x", "label", **TREE),
    ]
    feed = drawn(model_of(nodes, a=1, b=1))
    assert np.abs(feed["a"]).max() < 10
    assert 30_000 < feed["b"].mean() < 50_000


def test_what_constants_make_of_rows_is_undone() -> None:
    nodes = [
        node("ArrayFeatureExtractor", "x", "one"),
        helper.make_node("Sub", ["one", "mean"], ["y"]),
        helper.make_node("MatMul", ["y", "axes"], ["z"]),
        node("TreeEnsembleClassifier", "z", "label", **TREE),
    ]
    nodes[0].input.append("picked")
    model = model_of(nodes, x=3)
    axes = np.array([[1.0, 2.0], [0.0, 4.0]], np.float32)
    for name, array in (
        ("picked", np.array([2, 0])),
        ("mean", np.array([100.0, -100.0], np.float32)),
        ("axes", axes),
    ):
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    x = drawn(model)["x"]
    projected = (x[:, [2, 0]] - [100, -100]) @ axes
    assert 10 < int((projected[:, 1] > 40_000).sum()) < 40
    assert np.abs(x[:, 1]).max() < 10


def test_rows_lie_where_two_classes_are_even() -> None:
    weights, moved = np.array([[0.5, -2.0], [-0.5, 2.0]]), np.array([90.0, -90.0])
    linear = node(
        "LinearClassifier",
        "x",
        "label",
        classlabels_ints=[0, 1],
        coefficients=weights.ravel().tolist(),
        intercepts=moved.tolist(),
    )
    x = drawn(model_of([linear], x=2))["x"]
    first = (x @ weights.T + moved).argmax(axis=1) == 0
    assert 10 < int(first.sum()) < 40


def test_rows_lie_next_to_support_vectors() -> None:
    vectors = node(
        "SVMClassifier",
        "x",
        "label",
        classlabels_ints=[0, 1],
        vectors_per_class=[1, 1],
        support_vectors=[100.0, 0.0, 300.0, 0.0],
        coefficients=[1.0, -1.0],
        rho=[0.0],
    )
    x = drawn(model_of([vectors], x=2))["x"]
    near = np.minimum(np.abs(x[:, 0] - 100), np.abs(x[:, 0] - 300))
    assert near.max() < 50
    assert {bool(low) for low in x[:, 0] < 200} == {True, False}
    assert np.all(x[:, 1] == 0)


def test_attributes_that_do_not_fit_tell_nothing() -> None:
    short = {**TREE, "nodes_values": [1.0]}
    x = drawn(model_of([node("TreeEnsembleClassifier", "x", "label", **short)], x=2))["x"]
    assert np.abs(x).max() < 10


def three_classes(threshold: float, **changes: Any) -> dict[str, Any]:
    """Return a tree of two branches and three leaves, each of which votes for a class."""
    return {
        "classlabels_int64s": [0, 1, 2],
        "nodes_treeids": [0] * 5,
        "nodes_nodeids": [0, 1, 2, 3, 4],
        "nodes_featureids": [0, 0, 1, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF"],
        "nodes_values": [threshold, 0.0, -700.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 3, 0, 0],
        "nodes_falsenodeids": [2, 0, 4, 0, 0],
        "class_treeids": [0, 0, 0],
        "class_nodeids": [1, 3, 4],
        "class_ids": [0, 1, 2],
        "class_weights": [1.0, 1.0, 1.0],
        **changes,
    }


def test_every_class_of_a_forest_has_rows() -> None:
    """The third leaf wants a number that is far from where all others are."""
    tree = three_classes(5.0, nodes_values=[5.0, 0.0, -700.0, 0.0, 0.0])
    x = drawn(model_of([node("TreeEnsembleClassifier", "x", "label", **tree)], x=2))["x"]
    given = np.where(x[:, 0] <= 5, 0, np.where(x[:, 1] > -700, 1, 2))
    assert {int(c): int((given == c).sum()) > 4 for c in (0, 1, 2)} == {0: True, 1: True, 2: True}


def test_rows_lie_next_to_a_table_that_they_are_measured_against() -> None:
    table = np.array([[100.0, -3.0], [120.0, 5.0], [90.0, 2.0]], np.float32)
    distance = helper.make_node("CDist", ["x", "table"], ["label"], domain="com.microsoft")
    made = model_of([distance], x=2)
    made.graph.initializer.append(numpy_helper.from_array(table, "table"))
    x = drawn(made)["x"]
    nearest = np.abs(x[:, None] - table).max(axis=2).min(axis=1)
    assert nearest.max() < 8
    assert np.median(nearest) < 2
    assert (np.abs(x[:, None] - table).max(axis=2).argmin(axis=1) == 1).sum() > 5


def test_a_gemm_is_undone() -> None:
    """What is wanted of it are rows around 0, of which sums of squares are taken."""
    matrix = np.array([[0.01, 0.0], [0.0, 2.0]], np.float32)
    nodes = [
        helper.make_node("Gemm", ["x", "matrix", "moved"], ["z"], transB=1),
        helper.make_node("ReduceSumSquare", ["z"], ["label"], axes=[1]),
    ]
    made = model_of(nodes, x=2)
    made.graph.initializer.append(numpy_helper.from_array(matrix, "matrix"))
    made.graph.initializer.append(numpy_helper.from_array(np.array([-5, 8], np.float32), "moved"))
    x = drawn(made)["x"]
    np.testing.assert_allclose(x.mean(axis=0), [500, -4], rtol=0.2)


@pytest.mark.parametrize(("zeros", "others"), [(0, False), (1, True)])
def test_only_known_categories_where_others_stop_the_model(zeros: int, *, others: bool) -> None:
    words = node("OneHotEncoder", "w", "a", cats_strings=["p", "q"], zeros=zeros)
    numbers = node("OneHotEncoder", "n", "label", cats_int64s=[40, 70], zeros=zeros)
    made = model_of([words, numbers], n=1)
    made.graph.input.append(helper.make_tensor_value_info("w", TensorProto.STRING, [50, 1]))
    feed = drawn(made)
    assert (set(feed["w"].ravel()) != {"p", "q"}) is others
    assert (set(feed["n"].ravel()) != {40.0, 70.0}) is others
