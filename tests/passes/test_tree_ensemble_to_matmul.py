"""tree-ensemble-to-matmul: every branch compared at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import written

PASS = "tree-ensemble-to-matmul"
# Two trees: x0 ? (x1 ? 1 : 2) : 3 for target 0, and x1 ? 4 : 5 for target 1.
VALUES = [0.5, -1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]
WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0]


def forest(mode: str = "BRANCH_LEQ", *, double: bool = False, **changes: Any) -> onnx.ModelProto:
    branch, leaf = mode, "LEAF"
    attributes: dict[str, Any] = {
        "n_targets": 2,
        "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
        "nodes_featureids": [0, 1, 0, 0, 0, 1, 0, 0],
        "nodes_modes": [branch, branch, leaf, leaf, leaf, branch, leaf, leaf],
        "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
        "target_treeids": [0, 0, 0, 1, 1],
        "target_nodeids": [2, 3, 4, 1, 2],
        "target_ids": [0, 0, 0, 1, 1],
    }
    if double:
        for name, numbers in (("nodes_values", VALUES), ("target_weights", WEIGHTS)):
            tensor = numpy_helper.from_array(np.array(numbers, np.float64), name)
            attributes[f"{name}_as_tensor"] = tensor
    else:
        attributes |= {"nodes_values": VALUES, "target_weights": WEIGHTS}
    attributes |= changes
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **attributes
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", kind, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


GRID = np.array([[a, b] for a in (0.4, 0.5, 0.6) for b in (-1.5, -1.0, 0.0, 2.0, 3.0)])


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
def test_modes_and_ties(mode: str) -> None:
    assert_rewrite(PASS, forest(mode), feeds=[{"x": GRID.astype(np.float32)}])


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_GT"])
@pytest.mark.parametrize("flags", [[0] * 8, [1, 1, 0, 0, 0, 1, 0, 0]])
def test_missing_values(mode: str, flags: list[int]) -> None:
    data = np.array([[np.nan, 0], [0.4, np.nan], [np.nan, np.nan]], np.float32)
    model = forest(mode, nodes_missing_value_tracks_true=flags)
    assert_rewrite(PASS, model, feeds=[{"x": data}])


def test_doubles_and_base_values() -> None:
    assert_rewrite(PASS, forest(double=True), feeds=[{"x": GRID}])
    assert_rewrite(PASS, forest(base_values=[10.0, -1.0]), feeds=[{"x": GRID.astype(np.float32)}])


def test_base_values_of_targets_without_a_vote() -> None:
    # onnxruntime gives 0, not the base value, for a row that reaches no vote for a target.
    votes = [0, 0, 0, 0, 1]
    feeds = [{"x": GRID.astype(np.float32)}]
    assert_refused(
        PASS,
        forest(base_values=[10.0, -1.0], target_ids=votes),
        "each row must have a vote for a target with a base value; one may have none",
    )
    assert_rewrite(PASS, forest(base_values=[10.0, 0.0], target_ids=votes), feeds=feeds)
    assert_rewrite(PASS, forest(target_ids=votes), feeds=feeds)


@given(st.lists(st.tuples(*[st.floats(-4, 4, width=32)] * 2), min_size=1, max_size=5))
def test_any_numbers(rows: list[tuple[float, float]]) -> None:
    assert_rewrite(PASS, forest(), feeds=[{"x": np.array(rows, np.float32)}])


def test_refusals() -> None:
    assert_refused(
        PASS,
        forest(aggregate_function="AVERAGE"),
        "the trees must be summed (aggregate_function SUM); they are not",
    )
    assert_refused(
        PASS,
        forest(post_transform="LOGISTIC"),
        "the sum must not be transformed (post_transform NONE); it is",
    )
    assert_refused(PASS, forest("BRANCH_EQ"), "BRANCH_EQ")
    flags = [1, 0, 0, 0, 0, 0, 0, 0]
    assert_refused(
        PASS,
        forest(nodes_missing_value_tracks_true=flags),
        "missing values must pass all branches or none; they pass some",
    )


def test_leaves_other_operators_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
