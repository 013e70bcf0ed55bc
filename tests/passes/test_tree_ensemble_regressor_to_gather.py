"""tree-ensemble-regressor-to-gather: paths counted, answers followed, or trees walked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphfix import run
from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from passes.ml import _paths, _traversing
from tests.passes.tree_models import GRID, ROUNDED, WEIGHTS, forest, full

PASS = "tree-ensemble-regressor-to-gather"


@pytest.fixture(autouse=True, params=["counted", "followed", "walked"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let trees of any size be read in one of the three ways."""
    name: str = request.param
    for limit in ("_SIDES", "_WHOLE"):
        monkeypatch.setattr(_paths, limit, 1 << 20 if name == "counted" else 0)
    monkeypatch.setattr(_traversing, "_FOLLOWED", 0 if name == "walked" else 1 << 20)
    return name


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
def test_modes_and_ties(mode: str) -> None:
    assert_rewrite(PASS, forest(mode), feeds=[{"x": GRID.astype(np.float32)}])


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(*[st.floats(-4, 4, width=32)] * 2), min_size=1, max_size=5))
def test_any_numbers(rows: list[tuple[float, float]]) -> None:
    assert_rewrite(PASS, forest(), feeds=[{"x": np.array(rows, np.float32)}])


@pytest.mark.parametrize("how", ["AVERAGE", "SUM"])
@pytest.mark.parametrize("after", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"])
def test_aggregates_and_transforms(how: str, after: str) -> None:
    weights = [w / 10 for w in WEIGHTS]
    model = forest(aggregate_function=how, post_transform=after, target_weights=weights)
    near: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-3} if after == "PROBIT" else ROUNDED
    assert_rewrite(PASS, model, feeds=[{"x": GRID.astype(np.float32)}], **near)


@pytest.mark.parametrize("how", ["MIN", "MAX"])
def test_the_least_and_the_greatest(how: str) -> None:
    one = forest(aggregate_function=how, n_targets=1, target_ids=[0] * 5)
    one.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 1
    assert_rewrite(PASS, one, feeds=[{"x": GRID.astype(np.float32)}], **ROUNDED)
    assert_refused(PASS, forest(aggregate_function=how), "each leaf must have a vote for each")


def test_missing_values_pass_some_branches() -> None:
    data = np.array([[np.nan, 0], [0.4, np.nan], [np.nan, np.nan], [0.5, -1]], np.float32)
    model = forest(nodes_missing_value_tracks_true=[1, 0, 0, 0, 0, 0, 0, 0])
    done = assert_rewrite(PASS, model, feeds=[{"x": data}], **ROUNDED)
    assert "IsNaN" in {node.op_type for node in done.after.graph.node}


def test_what_forms_no_trees_is_refused() -> None:
    rootless = forest(nodes_truenodeids=[1, 0, 0, 0, 0, 1, 0, 0])
    assert_refused(PASS, rootless, "each tree must begin with its one root")
    nowhere = forest(nodes_truenodeids=[1, 9, 0, 0, 0, 1, 0, 0])
    assert_refused(PASS, nowhere, "each branch must lead to a node; one is of none")
    assert_refused(PASS, forest(nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 1]), "two share one")
    assert_refused(PASS, forest(nodes_featureids=[9, *[0] * 7]), "they look at 9")
    assert_refused(PASS, forest(target_ids=[0, 0, 0, 1, 5]), "must be for one of 2 targets")
    assert_refused(PASS, forest(aggregate_function="MODE"), "they say MODE")
    assert_refused(PASS, forest(nodes_modes=["MAYBE", *["LEAF"] * 7]), "they say MAYBE")


def test_the_result_grows_with_the_number_of_leaves(way: str) -> None:
    # A tree of 2 ** 7 leaves 1 and 8 times: the bytes go with the leaves, the nodes do not.
    sizes: list[int] = []
    nodes: list[int] = []
    for trees in (4, 32):
        done = assert_rewrite(
            PASS, full(trees, depth=7), feeds=[{"x": GRID.astype(np.float32)}], **ROUNDED
        )
        sizes.append(len(done.after.SerializeToString()))
        nodes.append(len(done.after.graph.node))
    assert nodes == {"counted": [9, 10], "followed": [16, 16], "walked": [48, 48]}[way]
    assert sizes[1] < 8.1 * sizes[0]
    if way != "counted":  # which is for smaller trees
        assert sizes[1] < 1.2 * len(full(32, depth=7).SerializeToString())


def test_leaves_that_are_shared_and_trees_that_are_leaves() -> None:
    feeds = [{"x": GRID.astype(np.float32)}]
    leaf = ["LEAF"] * 4
    shared = forest(
        nodes_treeids=[0, 0, 0, 0, 1],
        nodes_nodeids=[0, 1, 2, 4, 0],
        nodes_featureids=[0, 1, 0, 0, 0],
        nodes_values=[0.5, -1.0, 0.0, 0.0, 0.0],
        nodes_modes=["BRANCH_LT", "BRANCH_LEQ", *leaf[:3]],
        nodes_truenodeids=[1, 2, 0, 0, 0],
        nodes_falsenodeids=[4, 2, 0, 0, 0],
        target_treeids=[0, 0, 1],
        target_nodeids=[2, 4, 0],
        target_ids=[0, 0, 1],
        target_weights=[1.0, 2.0, 4.0],
    )
    done = assert_rewrite(PASS, shared, feeds=feeds)
    assert outputs_of(done.after, feeds[0])["y"][0].tolist() == [1.0, 4.0]


def test_an_older_opset_is_raised_first() -> None:
    old = forest()
    old.opset_import[0].version, old.opset_import[1].version = 8, 1
    result = run(old, "trt8.6", verify="off")
    assert [
        entry.version for entry in result.model.to_proto().opset_import if not entry.domain
    ] == [11]
    assert not [finding for finding in result.report.findings_after if finding.blocks]
