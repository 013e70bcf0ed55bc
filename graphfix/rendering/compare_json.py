"""The JSON view of a comparison by numbers, as schemas/two-models.schema.json has it."""

from __future__ import annotations

from graphfix.proving.layers.comparison import Comparison
from graphfix.rendering.as_json import SCHEMA, Json, picked, verification_json


def compare_json(before: str, after: str, found: Comparison) -> Json:
    """Return the object that `graphfix compare --json` prints."""
    fields = (
        *("status", "verification", "first", "layers", "layers_reason"),
        *("only_before", "only_after", "notes"),
    )
    verification = verification_json(found.verification)
    return {
        "schema": SCHEMA,
        "before": before,
        "after": after,
        **picked(found, *fields, verification=verification),
    }
