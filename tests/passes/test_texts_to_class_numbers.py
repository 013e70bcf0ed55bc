"""texts-to-class-numbers: the place of a label instead of its text."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphfix import run
from graphfix.operators.labels import Labels, labelled_outputs
from graphfix.pipeline.results import Result
from graphfix.testing import outputs_of
from tests.passes.ml_models import model_of
from tests.passes.tree_models import classifier

NAMES = ["red", "green", "blue"]


def looked_up(**changes: Any) -> onnx.ModelProto:
    """Return ArgMax, a lookup in constant texts, and Reshape."""
    texts = numpy_helper.from_array(np.array(NAMES, object), "texts")
    ends = helper.make_tensor("ends", TensorProto.INT64, [1], [-1])
    nodes = [
        helper.make_node("ArgMax", ["x"], ["at"], axis=1, keepdims=0),
        helper.make_node("ArrayFeatureExtractor", ["texts", "at"], ["found"], domain="ai.onnx.ml"),
        helper.make_node(changes.get("op", "Reshape"), ["found", "ends"], ["label"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])
    label = helper.make_tensor_value_info("label", TensorProto.STRING, ["N"])
    graph = helper.make_graph(nodes, "g", [x], [label], [texts, ends])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def fixed(model: onnx.ModelProto) -> Result:
    return run(model, "trt8.6", allow_io_change=True)


def linear() -> onnx.ModelProto:
    return model_of(
        "LinearClassifier",
        ["N", 3],
        label=TensorProto.STRING,
        coefficients=[0.5, -1.0, 2.0, 1.5, 0.25, -0.5, -1.0, 1.0, 0.0],
        intercepts=[0.1, -0.2, 0.3],
        classlabels_strings=NAMES,
    )


def encoded() -> onnx.ModelProto:
    """Return ArgMax and LabelEncoder, with a class that it does not know."""
    nodes = [
        helper.make_node("ArgMax", ["x"], ["at"], axis=1, keepdims=0),
        helper.make_node(
            "LabelEncoder",
            ["at"],
            ["label"],
            domain="ai.onnx.ml",
            keys_int64s=[2, 0],
            values_strings=["blue", "red"],
            default_string="other",
        ),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])
    label = helper.make_tensor_value_info("label", TensorProto.STRING, ["N"])
    graph = helper.make_graph(nodes, "g", [x], [label])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def trees() -> onnx.ModelProto:
    votes: dict[str, Any] = {
        "class_ids": [0, 1, 2, 1, 2],
        "class_weights": [1.0, 2.0, 3.0, 2.5, 4.0],
    }
    return classifier(NAMES, **votes)


@pytest.mark.parametrize("make", [looked_up, linear, trees])
def test_the_numbers_are_those_of_the_labels(make: Any) -> None:
    result = fixed(make())
    assert result.report.verification.status.value == "equal"
    assert not [finding for finding in result.report.findings_after if finding.blocks]
    assert labelled_outputs(result.model.to_proto()) == {"label": Labels(tuple(NAMES), False)}
    change = next(c for c in result.report.io_changes if c.name == "label")
    assert change.new == "int64[N], whose numbers stand for red, green, blue"


def test_the_texts_of_an_encoder_and_what_it_gives_differently() -> None:
    result = fixed(encoded())
    assert result.report.verification.status.value == "equal"
    labels = Labels(("blue", "red", "other"), False)
    assert labelled_outputs(result.model.to_proto()) == {"label": labels}
    after = result.model.to_proto()
    given = outputs_of(after, {"x": np.eye(3, dtype=np.float32)})["label"]
    assert list(labels.read(given)) == ["red", "other", "blue"]


def test_texts_that_are_no_labels() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
    y = helper.make_tensor_value_info("label", TensorProto.STRING, ["N"])
    node = helper.make_node("Cast", ["x"], ["label"], to=TensorProto.STRING)
    graph = helper.make_graph([node], "g", [x], [y])
    imports = [helper.make_opsetid("", 17)]
    report = fixed(helper.make_model(graph, opset_imports=imports, ir_version=8)).report
    reported = [outcome.reason for outcome in report.outcomes if outcome.reason]
    assert "the texts must be labels of classes; x is none" in reported


def test_it_needs_consent() -> None:
    report = run(looked_up(), "trt8.6", verify="off").report
    assert report.io_changes == ()
    assert "io:string-output" in {str(finding.feature) for finding in report.findings_after}
