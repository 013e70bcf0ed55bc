"""tree-ensemble-to-gather: trees in the form of ai.onnx.ml 5."""

from collections import Counter

import numpy as np
import pytest
from onnx import numpy_helper

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.tree_models import GRID, ROUNDED, full, newer

PASS = "tree-ensemble-to-gather"


def test_the_form_of_ai_onnx_ml_5() -> None:
    data = np.array([[a, b] for a in (0.4, 0.5, 0.6) for b in (0, 1, 2, 3, 4)], np.float32)
    done = assert_rewrite(PASS, newer(), feeds=[{"x": data}], **ROUNDED)
    assert not [node for node in done.after.graph.node if node.domain]
    assert_refused(PASS, newer(tree_roots=[0, 0]), "must have nodes of their own")
    assert_refused(PASS, newer(nodes_truenodeids=[1, 0, 4]), "one leads to none")
    cycle = newer(nodes_trueleafs=[0, 0, 1], nodes_truenodeids=[1, 0, 3])
    assert_refused(PASS, cycle, "they form a cycle or deeper ones")
    empty = numpy_helper.from_array(np.zeros(0, np.float32))
    assert_refused(PASS, newer(membership_values=empty), "0 sets for 1 branches")


@pytest.mark.parametrize(
    ("depth", "trees", "expected"),
    [
        (5, 20, {"MatMul": 2, "Relu": 1, "LessOrEqual": 1}),
        (6, 20, {"GatherElements": 5, "Where": 0, "LessOrEqual": 1}),
        (7, 40, {"GatherElements": 6, "Where": 7, "LessOrEqual": 7}),
    ],
)
def test_the_sizes_of_trees_decide(depth: int, trees: int, expected: dict[str, int]) -> None:
    model = full(trees, depth)
    feeds = [{"x": GRID.astype(np.float32)}]
    done = assert_rewrite("tree-ensemble-regressor-to-gather", model, feeds=feeds, **ROUNDED)
    found = Counter(node.op_type for node in done.after.graph.node)
    assert {op: found[op] for op in expected} == expected
    assert len(done.after.SerializeToString()) < 3 * len(model.SerializeToString())
