"""Outputs whose rows are filled up to a fixed number, and the output that counts those that count.

An engine that has no sizes computed at run time gives results of a fixed number of rows. Which
outputs these are is in the metadata of the file, for whoever runs it and for comparisons: the
rows from the count on are filling, and say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from onnx import ModelProto

KEY = "graphfix_padded_outputs"


class Padding(Struct, frozen=True):
    """How an output is filled up.

    Attributes:
        count: The output that holds the number of rows that count, one integer.
        axis: The axis that the rows lie along.
    """

    count: str
    axis: int


def write_padding(paddings: Mapping[str, Padding]) -> str:
    """Return the text for the metadata of the file."""
    return json.dumps({name: [p.count, p.axis] for name, p in paddings.items()}, sort_keys=True)


def read_padding(text: str) -> dict[str, Padding]:
    """Return what `write_padding` wrote, by output; empty for any other text."""
    try:
        found: Any = json.loads(text)
        entries = [(name, count, axis) for name, (count, axis) in found.items()]
    except (ValueError, TypeError, AttributeError):
        return {}
    return {
        name: Padding(count, axis)
        for name, count, axis in entries
        if isinstance(count, str) and isinstance(axis, int)
    }


def padded_outputs(model: ModelProto) -> dict[str, Padding]:
    """Return the outputs of a model that are filled up, by name."""
    for entry in model.metadata_props:
        if entry.key == KEY:
            names = {output.name for output in model.graph.output}
            found = read_padding(entry.value)
            return {n: p for n, p in found.items() if {n, p.count} <= names}
    return {}
