"""Files that import ai.onnx.ml alone: the default domain is imported where a rewrite needs it."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

import graphfix
from graphfix.ir.schemas import minimal_ir, newest_opset_of
from graphfix.report import Status
from graphfix.testing import parse

ML = (
    '<ir_version: {ir}, opset_import: ["ai.onnx.ml" : {ml}]> g (float[2,3] x) => {out} {{ {body} }}'
)
TREE = (
    "y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, nodes_falsenodeids = [2, 0, 0], "
    "nodes_featureids = [0, 0, 0], nodes_hitrates = [1.0, 1.0, 1.0], "
    "nodes_missing_value_tracks_true = [0, 0, 0], nodes_modes = "
    '["BRANCH_LEQ", "LEAF", "LEAF"], nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], '
    "nodes_truenodeids = [1, 0, 0], nodes_values = [0.5, 0.0, 0.0], "
    'post_transform = "NONE", target_ids = [0, 0], target_nodeids = [1, 2], '
    "target_treeids = [0, 0], target_weights = [1.0, 2.0]> (x)"
)
SUBGRAPHS = {
    "scaler": "y = ai.onnx.ml.Scaler <offset = [1.0, 2.0, 3.0], scale = [0.5, 1.0, 2.0]> (x)",
    "tree": TREE,
    "linear": "y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0, 3.0], "
    'intercepts = [0.5], post_transform = "NONE"> (x)',
    "normalizer": 'y = ai.onnx.ml.Normalizer <norm = "L2"> (x)',
}


def _model(name: str, ir: int = 8, ml: int = 3, post: str = "NONE") -> graphfix.Model:
    out = "(float[2,1] y)" if name in ("tree", "linear") else "(float[2,3] y)"
    body = SUBGRAPHS[name].replace('post_transform = "NONE"', f'post_transform = "{post}"')
    return graphfix.load(parse(ML.format(ir=ir, ml=ml, out=out, body=body)))


@pytest.mark.parametrize("name", sorted(SUBGRAPHS))
def test_a_rewrite_brings_the_default_domain_along(name: str) -> None:
    result = graphfix.run(_model(name), "trt8")
    assert result.exit_code == 0
    assert result.model.opset == 17
    assert {node.domain or "" for node in result.model.graph.nodes} == {""}


@pytest.mark.parametrize(("ir", "opset"), [(3, 8), (5, 10), (6, 11), (7, 14), (8, 17), (10, 17)])
def test_the_version_is_one_that_the_file_may_carry(ir: int, opset: int) -> None:
    model = graphfix.run(_model("scaler", ir, 1), passes=["scaler-to-arithmetic"]).model
    assert (model.opset, model.ir_version) == (opset, ir)
    assert minimal_ir(newest_opset_of(ir)) <= ir


def test_the_version_is_one_that_the_target_takes() -> None:
    result = graphfix.run(_model("tree"), "trt7.0")
    assert (result.exit_code, result.model.opset) == (0, 11)


def test_a_rewrite_that_needs_more_than_the_file_may_carry_says_so() -> None:
    model = _model("tree", 5, 1).to_proto()
    model.graph.initializer.append(helper.make_tensor("kept", TensorProto.FLOAT, [1], [0.0]))
    result = graphfix.run(model, "trt8")
    (refused,) = [o for o in result.report.outcomes if o.status is Status.REFUSED]
    assert refused.pass_id == "tree-ensemble-regressor-to-gather"
    assert refused.reason == "it needs opset 11, and 10 is the newest that can be imported"
    assert result.exit_code == 1


@pytest.mark.parametrize("ir", [3, 4, 5])
def test_a_file_without_stored_tensors_carries_what_a_rewrite_needs(ir: int) -> None:
    result = graphfix.run(_model("tree", ir, 1), "trt8")
    assert result.exit_code == 0
    assert (result.model.opset, result.model.ir_version) == (11, 6)


@pytest.mark.parametrize("name", sorted(SUBGRAPHS))
@pytest.mark.parametrize("opset", [9, 13])
def test_conversion_imports_the_opset_asked_for(name: str, opset: int) -> None:
    result = graphfix.run(_model(name), opset=opset)
    assert (result.exit_code, result.model.opset) == (0, opset)
    (site,) = result.report.outcomes[0].sites
    assert site.note == f"ai.onnx {opset} is imported"
    assert [node.domain for node in result.model.graph.nodes] == ["ai.onnx.ml"]


@pytest.mark.parametrize("name", sorted(SUBGRAPHS))
def test_a_runtime_that_has_the_operator_gets_the_file_as_it_is(name: str) -> None:
    result = graphfix.run(_model(name), "ort-1.16")
    assert (result.exit_code, result.model.opset) == (0, 0)
    assert not [o for o in result.report.outcomes if o.status is Status.APPLIED]


@pytest.mark.parametrize("name", ["linear", "tree"])
def test_what_no_pass_replaces_is_left_with_its_finding(name: str) -> None:
    # A single target so transformed: onnxruntime leaves it as it is, ONNX does not.
    result = graphfix.run(_model(name, post="SOFTMAX"), "trt8")
    assert result.exit_code == 1
    assert result.model.opset == 0
    assert [f.feature.startswith("op:ai.onnx.ml::") for f in result.report.findings_after] == [True]
