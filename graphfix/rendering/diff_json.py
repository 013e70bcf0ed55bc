"""The JSON view of a difference, as schemas/two-models.schema.json has it."""

from __future__ import annotations

from graphfix.difference.difference import Difference, Statistics, WeightChange
from graphfix.rendering.as_json import SCHEMA, Json, picked


def diff_json(before: str, after: str, found: Difference) -> Json:
    """Return the object that `graphfix diff --json` prints."""
    fields = (
        *("same", "matched_nodes", "renamed_nodes", "renamed_tensors", "renamed_interface"),
        *("metadata", "interface", "removed", "added", "nodes", "weights", "types"),
    )
    weights = [weight_json(change) for change in found.weights]
    return {
        "schema": SCHEMA,
        "before": before,
        "after": after,
        **picked(found, *fields, matched_nodes=found.matched, weights=weights),
    }


def weight_json(change: WeightChange) -> Json:
    """Return a stored tensor that differs."""
    fields = ("presence", "name", "new_name", "scope", "used_by", "old", "new", "statistics")
    statistics = None if change.statistics is None else _statistics(change.statistics)
    old, new = change.old or None, change.new or None
    return picked(change, *fields, old=old, new=new, statistics=statistics)


def _statistics(found: Statistics) -> Json:
    fields = ("elements", "differing", "max_abs", "mean_abs", "max_rel", "nonfinite_elements")
    return picked(found, *fields, "first", nonfinite_elements=found.nonfinite)
