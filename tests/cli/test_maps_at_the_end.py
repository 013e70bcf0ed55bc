"""Classifiers that end in a map for each row: the command that the report names ends with 0."""

import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from graphfix.cli import main

ML = "ai.onnx.ml"


def linear() -> Any:
    """Return what skl2onnx writes of a logistic regression of three classes."""
    return helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "scores"],
        domain=ML,
        classlabels_ints=[7, -2, 4],
        coefficients=[0.5, -1.0, 2.0, 1.5, 0.25, -0.5],
        intercepts=[0.1, -0.2, 0.3],
        multi_class=1,
        post_transform="SOFTMAX",
    )


def trees() -> Any:
    """Return a forest, which becomes many nodes more than there are."""
    return helper.make_node(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "scores"],
        domain=ML,
        class_ids=[0, 1, 2, 0, 1],
        class_nodeids=[2, 3, 4, 1, 2],
        class_treeids=[0, 0, 0, 1, 1],
        class_weights=[0.25, 0.5, 0.125, 0.75, 0.5],
        classlabels_int64s=[7, -2, 4],
        nodes_falsenodeids=[4, 3, 0, 0, 0, 2, 0, 0],
        nodes_featureids=[0, 1, 0, 0, 0, 1, 0, 0],
        nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", *["LEAF"] * 3, "BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2],
        nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1],
        nodes_truenodeids=[1, 2, 0, 0, 0, 1, 0, 0],
        nodes_values=[0.5, -1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0],
        post_transform="NONE",
    )


def with_maps(classifier: Any) -> ModelProto:
    """Return a classifier and its ZipMap."""
    score = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, score))
    nodes = [
        classifier,
        helper.make_node("ZipMap", ["scores"], ["y"], domain=ML, classlabels_int64s=[7, -2, 4]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])
    label = helper.make_tensor_value_info("label", TensorProto.INT64, ["N"])
    graph = helper.make_graph(nodes, "g", [x], [label, helper.make_value_info("y", maps)])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.parametrize("classifier", [linear, trees])
def test_the_named_command_ends_with_0(
    classifier: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = str(tmp_path / "m.onnx"), str(tmp_path / "o.onnx")
    Path(model).write_bytes(with_maps(classifier()).SerializeToString())
    words = ["run", model, "--target", "trt8.6", "-o", out]
    assert main([*words, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    blocking = {f["feature"] for f in report["findings_after"] if f["severity"] == "reject"}
    assert blocking == {"io:sequence-output", "op:ai.onnx.ml::ZipMap"}

    assert main([*words, "--force"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    command = re.search(r"the report says how: `([^`]+)`\.", said)
    assert command
    name, *again = shlex.split(command[1])
    assert name == "graphfix"
    assert again == [*words[:4], "--allow-io-change", *words[4:], "--force"]
    assert main(again) == 0

    x = np.array([[0.4, -1.5], [0.6, 3.0], [0.5, 0.25]], np.float32)
    session: Any = import_module("onnxruntime").InferenceSession
    labels, maps = session(model).run(None, {"x": x})
    found, columns = session(out).run(None, {"x": x})
    assert np.array_equal(labels, found)
    wanted = [[row[label] for label in (7, -2, 4)] for row in maps]
    np.testing.assert_allclose(columns, wanted, rtol=1e-6)


def test_no_command_where_more_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = with_maps(linear())
    proto.graph.node[0].attribute.extend([helper.make_attribute("post_transform", "PROBIT")])
    del proto.graph.node[0].attribute[-2]
    model = str(tmp_path / "m.onnx")
    Path(model).write_bytes(proto.SerializeToString())
    assert main(["run", model, "--target", "trt8.6", "-o", str(tmp_path / "o.onnx")]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "the report says how." in said
    assert "--allow-io-change -o" not in said
