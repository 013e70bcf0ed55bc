"""The JSON view of a difference, as docs/two-models.schema.json has it."""

from __future__ import annotations

from collections.abc import Iterable

from graphfix.diffing.difference import (
    Difference,
    FieldChange,
    NodeChange,
    Statistics,
    WeightChange,
)
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
        "renamed_interface": fields_json(found.renamed_interface),
        "metadata": fields_json(found.metadata),
        "interface": fields_json(found.interface),
        "removed": [node_json(node) for node in found.removed],
        "added": [node_json(node) for node in found.added],
        "nodes": [change_json(change) for change in found.nodes],
        "weights": [weight_json(change) for change in found.weights],
        "types": fields_json(found.types),
    }


def change_json(change: NodeChange) -> Json:
    """Return a node that both models have, with what differs."""
    return {
        "before": node_json(change.before),
        "after": node_json(change.after),
        "fields": fields_json(change.fields),
    }


def fields_json(changes: Iterable[FieldChange]) -> list[Json]:
    """Return facts, old and new."""
    return [{"where": c.where, "field": c.field, "old": c.old, "new": c.new} for c in changes]


def weight_json(change: WeightChange) -> Json:
    """Return a stored tensor that differs."""
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
