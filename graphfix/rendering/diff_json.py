"""The JSON view of a difference, as docs/two-models.schema.json has it."""

from __future__ import annotations

from collections.abc import Iterable

from graphfix.diffing.difference import Difference, FieldChange, Statistics, WeightChange
from graphfix.rendering.as_json import SCHEMA, Json, node_json, numbers_json


def diff_json(before: str, after: str, found: Difference) -> Json:
    """Return the object that `graphfix diff --json` prints."""
    return {
        "schema": SCHEMA,
        "before": before,
        "after": after,
        "same": found.same,
        "matched_nodes": found.matched,
        "renamed_nodes": found.renamed_nodes,
        "renamed_tensors": found.renamed_tensors,
        "renamed_interface": _fields(found.renamed_interface),
        "metadata": _fields(found.metadata),
        "interface": _fields(found.interface),
        "removed": [node_json(node) for node in found.removed],
        "added": [node_json(node) for node in found.added],
        "nodes": [
            {
                "before": node_json(change.before),
                "after": node_json(change.after),
                "fields": _fields(change.fields),
            }
            for change in found.nodes
        ],
        "weights": [_weight(change) for change in found.weights],
        "types": _fields(found.types),
    }


def _fields(changes: Iterable[FieldChange]) -> list[Json]:
    return [{"where": c.where, "field": c.field, "old": c.old, "new": c.new} for c in changes]


def _weight(change: WeightChange) -> Json:
    return {
        "presence": str(change.presence),
        "name": change.name,
        "new_name": change.new_name,
        "scope": change.scope,
        "used_by": [node_json(node) for node in change.used_by],
        "old": change.old or None,
        "new": change.new or None,
        "statistics": None if change.statistics is None else _statistics(change.statistics),
    }


def _statistics(found: Statistics) -> Json:
    return {
        "elements": found.elements,
        "differing": found.differing,
        **numbers_json(
            {"max_abs": found.max_abs, "mean_abs": found.mean_abs, "max_rel": found.max_rel}
        ),
        "nonfinite_elements": found.nonfinite,
        "first": list(found.first),
    }
