"""Outputs that are maps from labels to scores, held to a result that has columns instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np


def columns(values: Sequence[Any], labels: Mapping[int, Sequence[Any]]) -> list[Any]:
    """Return outputs with a column for each label in place of a map for each row.

    Args:
        values: The outputs.
        labels: Of outputs by their index, the labels in the order of the columns.
    """
    return [
        np.asarray([[row[key] for key in labels[place]] for row in value], np.float32)
        if place in labels
        else value
        for place, value in enumerate(values)
    ]


def labels_lost(original: str, result: str) -> dict[int, list[Any]]:
    """Return the labels of maps that a result has no more, by the index of the output."""
    onnx: Any = import_module("onnx")
    kept, graph = (onnx.load(path, load_external_data=False).graph for path in (result, original))
    makers = {name: node for node in graph.node if node.op_type == "ZipMap" for name in node.output}
    found: dict[int, list[Any]] = {}
    for place, (output, now) in enumerate(zip(graph.output, kept.output, strict=False)):
        if output.name in makers and now.type.HasField("tensor_type"):
            (labels,) = makers[output.name].attribute
            values = onnx.helper.get_attribute_value(labels)
            found[place] = [v.decode() if isinstance(v, bytes) else v for v in values]
    return found
