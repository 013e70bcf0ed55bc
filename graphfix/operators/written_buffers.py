"""Outputs that hold what the original model writes into one of its inputs.

Training accumulates gradients in buffers: an operator writes into its input, and outputs nothing
but that it did. A model whose operators only compute outputs the sum instead, and whoever runs it
puts that where the buffer was. Which outputs these are is in the metadata of the file, for
whoever runs it and for comparisons.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from onnx import ModelProto

KEY = "graphfix_written_buffers"
GRADIENT_ACCUMULATOR = ("com.microsoft", "InPlaceAccumulatorV2")


def write_buffers(buffers: Mapping[str, str]) -> str:
    """Return the text for the metadata of the file, from the input that each output is put into."""
    return json.dumps(dict(buffers), sort_keys=True)


def read_buffers(text: str) -> dict[str, str]:
    """Return what `write_buffers` wrote, by output; empty for any other text."""
    try:
        found: Any = json.loads(text)
        entries = list(found.items())
    except (ValueError, TypeError, AttributeError):
        return {}
    return {name: buffer for name, buffer in entries if isinstance(buffer, str)}


def buffer_outputs(model: ModelProto) -> dict[str, str]:
    """Return the outputs of a model that are to be put into an input, with the input's name."""
    for entry in model.metadata_props:
        if entry.key == KEY:
            names = {output.name for output in model.graph.output}
            return {n: b for n, b in read_buffers(entry.value).items() if n in names}
    return {}


def giving_buffers(before: ModelProto, after: ModelProto) -> ModelProto:
    """Return the original as it outputs what it writes, where the other model does.

    Args:
        before: The original; it is not changed.
        after: The other model.

    Returns:
        A copy whose accumulators give their sums under the names of their flags; `before` itself
        where the other model gives no such sums, or none that is the original's.
    """
    known = buffer_outputs(before)
    wanted = {name: b for name, b in buffer_outputs(after).items() if name not in known}
    if not wanted:
        return before
    copy = ModelProto()
    copy.CopyFrom(before)
    types = {output.name: output.type for output in after.graph.output}
    given: set[str] = set()
    for node in copy.graph.node:
        name = node.output[0] if node.output else ""
        if (
            (node.domain, node.op_type) == GRADIENT_ACCUMULATOR
            and wanted.get(name) == node.input[0]
            and len(node.output) == 1
        ):
            node.output[:] = ["", name]
            given.add(name)
    for output in copy.graph.output:
        if output.name in given:
            output.type.CopyFrom(types[output.name])
    return copy
