"""float64-ends-to-float32: inputs and outputs of float64, by consent to both things it costs."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.report import IoChange, Status, Verdict
from graphfix.testing import run_pass
from graphfix.worker.sessions import open_session

PASS = "float64-ends-to-float32"

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (double[2, N] x) => (double[2, N] y) {
  y = Sin (x) }"""


def test_by_consent() -> None:
    result = graphfix.run(
        onnx.parser.parse_model(TEXT), target="trt7", allow_io_change=True, allow_lossy=True
    )
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.LOSSY
    assert result.report.verification.outputs[0].max_abs is not None
    assert result.report.verification.outputs[0].max_abs < 1e-6
    assert result.report.io_changes == (
        IoChange("x", "float64", "float32"),
        IoChange("y", "float64", "float32"),
    )


@pytest.mark.parametrize(
    ("io", "lossy", "missing"),
    [
        (False, False, "needs --allow-io-change and --allow-lossy"),
        (True, False, "needs --allow-lossy"),
        (False, True, "needs --allow-io-change"),
    ],
)
def test_what_is_missing_is_said(io: bool, lossy: bool, missing: str) -> None:
    model = onnx.parser.parse_model(TEXT)
    result = graphfix.run(model, target="trt7", verify="off", allow_io_change=io, allow_lossy=lossy)
    assert result.exit_code == 1
    refused = {o.reason for o in result.report.outcomes if o.status is Status.REFUSED}
    assert missing in refused
    assert result.report.io_changes == ()


TREE = """<ir_version: 8, opset_import: ["" : 16, "ai.onnx.ml" : 3]>
g (double[2,1] x) => (float[2,1] y) {
  y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, nodes_falsenodeids = [2,0,0],
    nodes_featureids = [0,0,0], nodes_modes = ["BRANCH_LEQ","LEAF","LEAF"], nodes_nodeids = [0,1,2],
    nodes_treeids = [0,0,0], nodes_truenodeids = [1,0,0],
    nodes_values_as_tensor = double[3] {0.5,0,0}, post_transform = "NONE", target_ids = [0,0],
    target_nodeids = [1,2], target_treeids = [0,0],
    target_weights_as_tensor = double[2] {0.25,0.75}> (x) }"""
TWICE = """<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>
g (double[2] x) => (float[2] y) { z = acme.Scaled (x, x) y = Cast <to = 1> (z) }"""


def test_a_tree_with_tensors_of_float64_keeps_them() -> None:
    model = onnx.parser.parse_model(TREE)
    for attribute in model.graph.node[0].attribute:
        if attribute.name == "nodes_values_as_tensor":
            attribute.t.name = "named"  # as converters write it; a copy has no name
    ended = run_pass(PASS, model)
    assert ended.ops == ["Cast", "TreeEnsembleRegressor"]
    fed = np.array([[0.25], [2]], dtype=np.float32)
    (found,) = open_session(ended.after.SerializeToString()).run(None, {"x": fed})
    assert np.asarray(found).tolist() == [[0.25], [0.75]]


def test_where_a_reader_cannot_be_given_a_cast_the_type_stays() -> None:
    ended = run_pass(PASS, TWICE)
    assert ended.after.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    assert ended.reasons == ["input 0 of acme::Scaled is not one that this repair reads"]


def test_an_engine_that_takes_float64_keeps_it() -> None:
    result = graphfix.run(
        onnx.parser.parse_model(TEXT), target="trt8", allow_io_change=True, allow_lossy=True
    )
    assert result.report.io_changes == ()
