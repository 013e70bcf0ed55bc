"""The JSON view of a replay, as docs/report.schema.json has it."""

from __future__ import annotations

from graphfix.rendering.as_json import SCHEMA, Json, picked
from graphfix.reproducers.replaying import Replay


def replay_json(found: Replay) -> Json:
    """Return the object that `graphfix replay --json` prints."""
    fields = ("folder", "kind", "node", "shows", "then", "now", "certificate", "versions")
    return {
        "schema": SCHEMA,
        "pass": found.pass_id or None,
        **picked(found, *fields, "versions_now", "pass_files", "notes"),
        "anonymized": found.anonymised or None,
    }
