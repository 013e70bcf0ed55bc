"""tree-ensemble-classifier-to-gather: scores, and the label of the class that wins."""

from typing import Any

import numpy as np
import pytest
from onnx import helper

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.tree_models import GRID, ROUNDED, classifier

PASS = "tree-ensemble-classifier-to-gather"


@pytest.mark.parametrize("after", ["NONE", "SOFTMAX", "LOGISTIC"])
@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "int32"])
def test_three_classes(after: str, kind: str) -> None:
    to = int(helper.np_dtype_to_tensor_dtype(np.dtype(kind)))
    votes: dict[str, Any] = {
        "class_treeids": [0, 0, 0, 1, 1, 1, 1],
        "class_nodeids": [2, 3, 4, 1, 1, 2, 2],
        "class_ids": [0, 0, 0, 1, 2, 1, 2],
        "class_weights": [1.0, 2.0, 3.0, 2.5, -4.0, -1.0, 9.0],
    }
    model = classifier([7, -1, 3], to, post_transform=after, **votes)
    data = GRID.astype(kind)
    done = assert_rewrite(PASS, model, feeds=[{"x": data}], **ROUNDED)
    assert not [node for node in done.after.graph.node if node.domain]
    based = classifier([7, -1, 3], to, base_values=[0.5, 2.0, -1.0], **votes)
    assert_rewrite(PASS, based, feeds=[{"x": data}], **ROUNDED)


MIRRORED: dict[str, Any] = {
    "class_treeids": [0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
    "class_nodeids": [2, 2, 3, 3, 4, 4, 1, 1, 2, 2],
    "class_ids": [0, 1, 1, 0, 0, 1, 0, 1, 0, 1],
    "class_weights": [-0.5, 0.5, 0.0, -0.0, 1.5, -1.5, 0.75, -0.75, -0.25, 0.25],
}


@pytest.mark.parametrize("after", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_two_classes_with_opposite_scores(after: str) -> None:
    """CatBoost writes them so."""
    feeds = [{"x": GRID.astype(np.float32)}]
    model = classifier([0, 1], post_transform=after, **MIRRORED)
    done = assert_rewrite(PASS, model, feeds=feeds, **ROUNDED)
    assert not [node for node in done.after.graph.node if node.domain]


def test_two_classes_with_scores_that_are_not_opposite() -> None:
    votes: dict[str, Any] = {
        **MIRRORED,
        "class_weights": [-0.5, 0.25, 0, 0, 1.5, -1.5, 0.75, -0.75, -0.25, 0.25],
    }
    assert_refused(PASS, classifier([0, 1], **votes), "by the sign of the second")
    assert_refused(
        PASS,
        classifier([3, 7], **MIRRORED),
        "labels of two classes with votes for both must be 0 and 1; they are [3, 7]",
    )
    fewer: dict[str, Any] = {name: given[:-2] for name, given in MIRRORED.items()}
    assert_refused(PASS, classifier([0, 1], **fewer), "by the sign of the second")


def test_two_classes_where_onnxruntime_and_onnx_disagree() -> None:
    mixed: dict[str, Any] = {"class_ids": [0] * 5, "class_weights": [1.0, -2.0, 0.5, -4.0, 1.5]}
    assert_refused(PASS, classifier([0, 1], **mixed), "onnxruntime does not do what ONNX says")
    assert_refused(PASS, classifier([0, 1]), "by the sign of the second")
    assert_refused(PASS, classifier([0, 1], class_ids=[0] * 5, base_values=[1.0, 2.0]), "one ba")
    assert_refused(PASS, classifier([5]), "at least two classes")


def test_labels_that_are_texts() -> None:
    votes: dict[str, Any] = {"class_ids": [0] * 5, "class_weights": [0.1, 0.3, 0.0, 0.2, 0.4]}
    assert_refused(PASS, classifier(["no", "yes"], **votes), "they are texts")
    unread = classifier(["no", "yes"], **votes)
    del unread.graph.output[0]
    done = assert_rewrite(PASS, unread, feeds=[{"x": GRID.astype(np.float32)}], **ROUNDED)
    assert not [node for node in done.after.graph.node if node.domain]
