"""The JSON view of a difference, as docs/two-models.schema.json has it."""

from __future__ import annotations

from graphfix.diffing.difference import Difference, Statistics, WeightChange
from graphfix.rendering.as_json import SCHEMA, Json, picked


def diff_json(before: str, after: str, found: Difference) -> Json:
    """Return the object that `graphfix diff --json` prints."""
    fields = ("same", "renamed_nodes", "renamed_tensors", "renamed_interface", "metadata")
    return {
        "schema": SCHEMA,
        "before": before,
        "after": after,
        "matched_nodes": found.matched,
        **picked(found, *fields, "interface", "removed", "added", "nodes", "types"),
        "weights": [weight_json(change) for change in found.weights],
    }


def weight_json(change: WeightChange) -> Json:
    """Return a stored tensor that differs."""
    return {
        **picked(change, "presence", "name", "new_name", "scope", "used_by"),
        "old": change.old or None,
        "new": change.new or None,
        "statistics": None if change.statistics is None else _statistics(change.statistics),
    }


def _statistics(found: Statistics) -> Json:
    fields = ("elements", "differing", "max_abs", "mean_abs", "max_rel", "first")
    return {**picked(found, *fields), "nonfinite_elements": found.nonfinite}
