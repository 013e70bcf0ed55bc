"""The JSON view of a comparison by numbers, as docs/two-models.schema.json has it."""

from __future__ import annotations

from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.rendering.as_json import (
    SCHEMA,
    Json,
    node_json,
    numbers_json,
    verification_json,
)


def compare_json(before: str, after: str, found: Comparison) -> Json:
    """Return the object that `graphfix compare --json` prints."""
    return {
        "schema": SCHEMA,
        "before": before,
        "after": after,
        "status": str(found.status),
        "verification": verification_json(found.verification),
        "first": None if found.first is None else layer_json(found.first),
        "layers": [layer_json(layer) for layer in found.layers],
        "layers_reason": found.layers_reason,
        "only_before": found.only_before,
        "only_after": found.only_after,
        "notes": list(found.notes),
    }


def layer_json(layer: Layer) -> Json:
    """Return one tensor that both models compute."""
    return {
        "name": layer.name,
        "new_name": layer.new_name,
        "node": node_json(layer.node),
        "depth": layer.depth,
        "status": str(layer.status),
        **numbers_json({"max_abs": layer.max_abs, "max_rel": layer.max_rel}),
        "reason": layer.reason,
    }
