"""zip-map-to-columns: a column for each class instead of a map for each row."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from graphfix import run
from graphfix.operators.labels import Labels, labelled_outputs
from graphfix.pipeline.results import Result
from graphfix.proving.whole.interface import compare_interfaces


def zipped(labels: list[Any], columns: int | str = 3) -> onnx.ModelProto:
    """Return Softmax and ZipMap."""
    text = isinstance(labels[0], str)
    key = TensorProto.STRING if text else TensorProto.INT64
    score = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(key, score))
    name = "classlabels_strings" if text else "classlabels_int64s"
    named: dict[str, Any] = {name: labels}
    nodes = [
        helper.make_node("Softmax", ["x"], ["p"]),
        helper.make_node("ZipMap", ["p"], ["y"], domain="ai.onnx.ml", **named),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", columns])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_value_info("y", kind)])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def fixed(model: onnx.ModelProto) -> Result:
    return run(model, "trt8.6", allow_io_change=True)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [4, -2, 9]])
def test_the_columns_are_those_of_the_labels(labels: list[Any]) -> None:
    result = fixed(zipped(labels))
    assert result.report.verification.status.value == "equal"
    assert not [finding for finding in result.report.findings_after if finding.blocks]
    after = result.model.to_proto()
    assert labelled_outputs(after) == {"y": Labels(tuple(labels), True)}
    shown = ", ".join(map(str, labels))
    assert [change.new for change in result.report.io_changes] == [
        f"float32[N, 3], whose columns stand for {shown}"
    ]


def test_a_comparison_reads_the_columns_by_their_labels() -> None:
    model = zipped(["a", "b", "c"])
    interface = compare_interfaces(model, fixed(model).model.to_proto())
    assert interface.wrong == ""
    assert interface.notes == ("output y: labels -> float32",)
    scores = np.array([[0.25, 0.5, 0.75]], np.float32)
    assert interface.read({"y": scores}) == {"y": [{"a": 0.25, "b": 0.5, "c": 0.75}]}


def test_refusals() -> None:
    for model, reason in (
        (zipped(["a", "a", "c"]), "one is there twice"),
        (zipped(["a", "b"]), "must be float32 of rank 2 with 2 columns"),
    ):
        reported = [outcome.reason for outcome in fixed(model).report.outcomes if outcome.reason]
        assert any(reason in text for text in reported)


def test_it_needs_consent() -> None:
    report = run(zipped(["a", "b", "c"]), "trt8.6", verify="off").report
    assert report.io_changes == ()
    assert "io:sequence-output" in {str(finding.feature) for finding in report.findings_after}
