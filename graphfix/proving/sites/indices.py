"""Indices that count from the end, which operators take from opset 11 on."""

from __future__ import annotations

import numpy as np
import onnx

from graphfix.proving.inputs.uses import Use, consumers, int_attribute
from graphfix.proving.values.kinds import Array, Feed

_SINCE = 11
_ALONG_AN_AXIS = frozenset({"Gather", "GatherElements", "ScatterElements"})
_ROWS = frozenset({"GatherND", "ScatterND"})


def counted_from_the_end(model: onnx.ModelProto, feed: Feed, rng: np.random.Generator) -> Feed:
    """Return an input set in which half of the indices name the same places with negative numbers.

    Args:
        model: What reads the inputs.
        feed: An input set whose indices lie inside their tables.
        rng: Which indices.
    """
    if not any(not e.domain and e.version >= _SINCE for e in model.opset_import):
        return feed
    result = dict(feed)
    readers = consumers(model.graph)
    for name, value in feed.items():
        uses = readers.get(name, [])
        if len(uses) == 1 and isinstance(value, np.ndarray) and value.dtype.kind == "i":
            table = feed.get(uses[0].node.input[0])
            sizes = _sizes(uses[0], value, table) if isinstance(table, np.ndarray) else None
            if sizes is not None:
                back = (rng.random(value.shape) < 0.5) & (value >= 0)
                result[name] = np.where(back, value - sizes, value).astype(value.dtype)
    return result


def _sizes(use: Use, indices: Array, table: Array) -> Array | None:
    """Return the size of the axis that each index is for; None where they are no indices."""
    if use.position != 1:
        return None
    if use.op in _ALONG_AN_AXIS:
        axis = int_attribute(use.node, "axis", 0)
        return np.array(table.shape[axis]) if -table.ndim <= axis < table.ndim else None
    if use.op in _ROWS and not int_attribute(use.node, "batch_dims", 0) and indices.ndim:
        named = table.shape[: indices.shape[-1]]
        return np.array(named) if len(named) == indices.shape[-1] else None
    return None
