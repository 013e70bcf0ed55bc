"""Outputs whose numbers stand for labels: what the metadata says, and how it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from graphfix.operators.labels import KEY, Labels, labelled_outputs, read_labels, write_labels

CLASSES = Labels(("cat", "dog"), False)
COLUMNS = Labels((3, 7), True)


def test_what_is_written_is_read() -> None:
    known = {"label": CLASSES, "scores": COLUMNS}
    assert read_labels(write_labels(known)) == known
    assert read_labels("no json") == {}
    assert read_labels('{"a": {"colours": [1]}, "b": {"columns": [1.5]}}') == {}
    assert read_labels('{"a": 1}') == {}


def test_numbers_become_labels() -> None:
    read: Any = CLASSES.read(np.array([[1], [0]]))
    assert read.tolist() == [["dog"], ["cat"]]
    outside = np.array([2])
    assert CLASSES.read(outside) is outside
    scores = np.array([[0.25, 0.75]], np.float32)
    assert COLUMNS.read(scores) == [{3: np.float32(0.25), 7: np.float32(0.75)}]
    narrow = scores[:, :1]
    assert COLUMNS.read(narrow) is narrow


def test_outputs_that_there_are() -> None:
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [], [y])
    model = helper.make_model(graph)
    assert labelled_outputs(model) == {}
    entry = onnx.StringStringEntryProto(key=KEY, value=write_labels({"y": COLUMNS, "z": CLASSES}))
    model.metadata_props.append(entry)
    assert labelled_outputs(model) == {"y": COLUMNS}
